import type { Locale } from './locale.ts'

export const it: Locale = {
  language: 'Italiano',
  direction: 'ltr',
  site: {
    name: 'Newsletter',
    description: 'Novità da questo sito via email, di tanto in tanto.',
  },
  email: 'Indirizzo email',
  subscribe: 'Iscriviti',
  kept: 'Conserviamo il tuo indirizzo email e la data della tua iscrizione.',
  contact: 'Contatti o cancellazione dalla lista',
  home: 'Vai al nostro sito',
  sample: 'Leggi prima l’ultimo numero',
  privacy: 'Privacy',
  imprint: 'Note legali',
  license: 'Licenza dei contenuti:',
  languages: 'Lingue',
  suggestion: 'Questa pagina è disponibile anche in italiano',
  next: 'Riceverai la prossima newsletter via email.',
  again: 'Inserisci un altro indirizzo',
  developers: {
    title: 'Per gli sviluppatori',
    lead: 'Basta una richiesta per aggiungere un indirizzo alla lista, senza account e senza chiave.',
  },
  outcomes: {
    accepted: 'Grazie. Sei nella lista.',
    empty: 'Inserisci il tuo indirizzo email.',
    non_ascii: 'Prima della @ usa lettere non accentate, cifre e segni come . _ - +',
    invalid_email: 'Controlla l’indirizzo. Usa un formato come name@example.org.',
    invalid_body: 'La richiesta non è arrivata per intero. Riprova.',
    storage_failure: 'Non è stato possibile salvare il tuo indirizzo. Riprova tra un momento.',
    too_many: 'Al momento ci sono troppe richieste. Riprova più tardi.',
    typo: 'Volevi dire {address}? Altrimenti premi di nuovo «{subscribe}».',
    sending: 'Un momento…',
    unreachable: 'Al momento non c’è connessione. Riprova. Forse devi prima accedere a questa rete.',
  },
}
