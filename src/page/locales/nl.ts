import type { Locale } from '../locale.ts'

export const nl: Locale = {
  changed: '2026-11-21',
  email: 'E-mailadres',
  subscribe: 'Aanmelden',
  kept: 'We bewaren uw e-mailadres en de datum waarop u zich hebt aangemeld.',
  contact: 'Een vraag stellen of uw adres laten verwijderen',
  license: 'Licentie van de inhoud:',
  languages: 'Talen',
  suggestion: 'Deze pagina is er ook in het Nederlands',
  developers: {
    title: 'Voor ontwikkelaars',
    lead: 'Met één verzoek staat een adres op de lijst. Een account of sleutel is niet nodig.',
  },
  outcomes: {
    accepted: 'Dank u wel. Uw adres staat op de lijst.',
    empty: 'Vul uw e-mailadres in.',
    non_ascii: 'Vóór de @ kunnen alleen letters zonder accenten, cijfers en eenvoudige tekens staan.',
    invalid_email: 'Controleer het adres. Het hoort eruit te zien als name@example.org.',
    invalid_body: 'Uw verzoek is niet volledig aangekomen. Probeer het opnieuw.',
    storage_failure: 'Uw adres kon niet worden opgeslagen. Probeer het zo meteen opnieuw.',
    sending: 'Een ogenblik…',
    unreachable: 'Er is op dit moment geen verbinding. Probeer het opnieuw.',
  },
}
