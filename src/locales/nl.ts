import type { Locale } from './locale.ts'

export const nl: Locale = {
  siteName: 'Nieuwsbrief',
  siteDescription: 'Nieuws van deze site per e-mail, zo nu en dan.',
  by: 'door {author}',
  email: 'E-mailadres',
  subscribe: 'Abonneren',
  stored: 'We bewaren uw e-mailadres en de datum waarop u zich hebt geabonneerd.',
  contact: 'Contact en afmelden',
  home: 'Bezoek onze website',
  issues: 'Om te beginnen',
  privacy: 'Privacy',
  imprint: 'Colofon',
  license: 'Licentie van de inhoud:',
  languages: 'Talen',
  suggestion: 'Deze pagina is er ook in het Nederlands',
  next: 'U ontvangt de volgende editie in uw inbox.',
  again: 'Nog een adres aanmelden',
  developers: 'Voor ontwikkelaars',
  outcomes: {
    accepted: 'U bent nu geabonneerd.',
    empty: 'Vul uw e-mailadres in.',
    non_ascii: 'Gebruik vóór de @ letters zonder accenten, cijfers en tekens zoals . _ - +',
    invalid_email: 'Controleer het adres. Het hoort eruit te zien als name@example.org.',
    storage_failure: 'Uw adres kon niet worden opgeslagen. Probeer het zo meteen opnieuw.',
    too_many: 'Er zijn op dit moment te veel verzoeken. Wacht een minuut en probeer het dan opnieuw.',
    refused: 'Het verzoek is geweigerd. Probeer het later opnieuw, of via een ander netwerk.',
    typo: 'Bedoelde u {address}? Zo niet, druk dan nog een keer op ‘{subscribe}’.',
    sending: 'Een ogenblik…',
    unreachable:
      'Er is op dit moment geen verbinding. Probeer het opnieuw. Misschien moet u zich eerst bij dit netwerk aanmelden.',
  },
}
