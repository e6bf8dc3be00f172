import type { Locale } from './locale.ts'

export const pl: Locale = {
  siteName: 'Newsletter',
  siteDescription: 'Wiadomości z tej strony e-mailem, od czasu do czasu.',
  by: 'Autor: {author}',
  email: 'Adres e-mail',
  subscribe: 'Zapisz się',
  stored: 'Przechowujemy Twój adres e-mail i datę zapisu.',
  contact: 'Kontakt i rezygnacja',
  home: 'Odwiedź naszą stronę',
  issues: 'Od czego zacząć',
  privacy: 'Prywatność',
  imprint: 'Informacje prawne',
  license: 'Licencja treści:',
  languages: 'Języki',
  suggestion: 'Ta strona jest też dostępna po polsku',
  next: 'Następny numer trafi do Twojej skrzynki.',
  again: 'Dodaj inny adres',
  developers: 'Dla programistów',
  outcomes: {
    accepted: 'Dziękujemy za zapis.',
    empty: 'Podaj adres e-mail.',
    non_ascii: 'Przed znakiem @ użyj liter bez znaków diakrytycznych, cyfr i znaków takich jak . _ - +',
    invalid_email: 'Sprawdź adres. Powinien wyglądać tak: name@example.org.',
    storage_failure: 'Nie udało się zapisać adresu. Spróbuj ponownie za chwilę.',
    too_many: 'W tej chwili jest zbyt wiele zgłoszeń. Poczekaj minutę i spróbuj ponownie.',
    refused: 'Zgłoszenie zostało odrzucone. Spróbuj ponownie później lub w innej sieci.',
    typo: 'Czy chodziło o {address}? Jeśli nie, naciśnij ponownie „{subscribe}”.',
    sending: 'Chwileczkę…',
    unreachable:
      'W tej chwili nie ma połączenia. Spróbuj ponownie. Być może trzeba najpierw zalogować się do tej sieci.',
  },
}
