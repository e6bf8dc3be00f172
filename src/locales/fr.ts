import type { Locale } from './locale.ts'

export const fr: Locale = {
  siteName: 'Lettre d’information',
  siteDescription: 'Des nouvelles de ce site par e-mail, de temps en temps.',
  by: 'par {author}',
  email: 'Adresse e-mail',
  subscribe: 'S’abonner',
  stored: 'Nous conservons votre adresse e-mail et la date de votre inscription.',
  contact: 'Contact et désinscription',
  home: 'Visiter notre site',
  issues: 'Par où commencer',
  privacy: 'Confidentialité',
  imprint: 'Mentions légales',
  license: 'Licence du contenu\u00a0:',
  languages: 'Langues',
  suggestion: 'Cette page est aussi disponible en français',
  next: 'Le prochain numéro arrivera dans votre boîte de réception.',
  again: 'Inscrire une autre adresse',
  developers: 'Pour les développeurs',
  outcomes: {
    accepted: 'Merci pour votre inscription.',
    empty: 'Veuillez saisir votre adresse e-mail.',
    non_ascii: 'Avant le @, utilisez des lettres sans accent, des chiffres et des signes comme . _ - +',
    invalid_email: 'Veuillez vérifier l’adresse. Elle doit ressembler à name@example.org.',
    storage_failure: 'Votre adresse n’a pas pu être enregistrée. Veuillez réessayer dans un instant.',
    too_many: 'Trop de demandes en ce moment. Veuillez patienter une minute, puis réessayer.',
    refused: 'La demande a été refusée. Veuillez réessayer plus tard ou depuis un autre réseau.',
    typo: 'Vouliez-vous dire {address}\u00a0? Sinon, appuyez à nouveau sur «\u00a0{subscribe}\u00a0».',
    sending: 'Un instant…',
    unreachable:
      'La connexion est impossible pour le moment. Veuillez réessayer. Il faut peut-être d’abord vous identifier sur ce réseau.',
  },
}
