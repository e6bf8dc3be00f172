import type { Locale } from './locale.ts'

export const de: Locale = {
  siteName: 'Newsletter',
  siteDescription: 'Neuigkeiten von dieser Website, ab und zu per E-Mail.',
  by: 'von {author}',
  email: 'E-Mail-Adresse',
  subscribe: 'Abonnieren',
  stored: 'Wir speichern Ihre E-Mail-Adresse und das Datum Ihrer Anmeldung.',
  contact: 'Kontakt und Abmeldung',
  home: 'Unsere Website besuchen',
  issues: 'Zum Einstieg',
  privacy: 'Datenschutz',
  imprint: 'Impressum',
  license: 'Lizenz der Inhalte:',
  languages: 'Sprachen',
  suggestion: 'Diese Seite gibt es auch auf Deutsch',
  next: 'Die nächste Ausgabe kommt in Ihr Postfach.',
  again: 'Weitere Adresse anmelden',
  developers: 'Für Entwickler',
  outcomes: {
    accepted: 'Ihre Anmeldung war erfolgreich.',
    empty: 'Bitte geben Sie Ihre E-Mail-Adresse ein.',
    non_ascii: 'Vor dem @ sind nur Buchstaben ohne Umlaute und Akzente, Ziffern und Zeichen wie . _ - + möglich.',
    invalid_email: 'Bitte prüfen Sie die Adresse. Sie sollte so aussehen: name@example.org.',
    storage_failure: 'Ihre Adresse konnte nicht gespeichert werden. Bitte versuchen Sie es gleich noch einmal.',
    too_many:
      'Zurzeit gehen zu viele Anfragen ein. Bitte warten Sie eine Minute und versuchen Sie es dann noch einmal.',
    refused: 'Die Anfrage wurde abgelehnt. Bitte versuchen Sie es später oder in einem anderen Netz noch einmal.',
    typo: 'Meinten Sie {address}? Wenn nicht, drücken Sie noch einmal auf „{subscribe}“.',
    sending: 'Einen Moment …',
    unreachable:
      'Zurzeit besteht keine Verbindung. Bitte versuchen Sie es noch einmal. Vielleicht müssen Sie sich zuerst in diesem Netz anmelden.',
  },
}
