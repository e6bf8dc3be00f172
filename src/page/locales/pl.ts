import type { Locale } from '../locale.ts'

export const pl: Locale = {
  changed: '2026-11-21',
  email: 'Adres e-mail',
  subscribe: 'Zapisz się',
  kept: 'Przechowujemy adres e-mail i datę zapisu.',
  contact: 'Zadaj pytanie lub poproś o usunięcie adresu',
  license: 'Licencja treści:',
  languages: 'Języki',
  suggestion: 'Ta strona jest też dostępna po polsku',
  developers: {
    title: 'Dla programistów',
    lead: 'Jedno żądanie dodaje adres do listy. Nie trzeba konta ani klucza.',
  },
  outcomes: {
    accepted: 'Dziękujemy. Adres jest na liście.',
    empty: 'Prosimy podać adres e-mail.',
    non_ascii: 'Przed znakiem @ mogą stać tylko litery bez znaków diakrytycznych, cyfry i proste znaki.',
    invalid_email: 'Prosimy sprawdzić adres. Powinien wyglądać jak name@example.org.',
    invalid_body: 'Zgłoszenie nie dotarło w całości. Prosimy spróbować ponownie.',
    storage_failure: 'Nie udało się zapisać adresu. Prosimy spróbować ponownie za chwilę.',
    sending: 'Chwileczkę…',
    unreachable: 'W tej chwili nie ma połączenia. Prosimy spróbować ponownie.',
  },
}
