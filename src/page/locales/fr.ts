import type { Locale } from '../locale.ts'

export const fr: Locale = {
  changed: '2026-11-21',
  email: 'Adresse e-mail',
  subscribe: 'S’abonner',
  kept: 'Nous conservons votre adresse e-mail et la date de votre inscription.',
  contact: 'Poser une question ou faire supprimer votre adresse',
  license: 'Licence du contenu\u00a0:',
  languages: 'Langues',
  suggestion: 'Cette page est aussi disponible en français',
  developers: {
    title: 'Pour les développeurs',
    lead: 'Une seule requête ajoute une adresse à la liste, sans compte ni clé.',
  },
  outcomes: {
    accepted: 'Merci. Votre adresse figure sur la liste.',
    empty: 'Veuillez saisir votre adresse e-mail.',
    non_ascii: 'Avant le @, seuls sont possibles les lettres sans accent, les chiffres et les signes simples.',
    invalid_email: 'Veuillez vérifier l’adresse. Elle doit ressembler à name@example.org.',
    invalid_body: 'Votre demande n’est pas arrivée en entier. Veuillez réessayer.',
    storage_failure: 'Votre adresse n’a pas pu être enregistrée. Veuillez réessayer dans un instant.',
    sending: 'Un instant…',
    unreachable: 'La connexion est impossible pour le moment. Veuillez réessayer.',
  },
}
