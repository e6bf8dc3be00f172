/** Names of columns in the files of other programs, and how names and words are compared. */

/** Converts a name or a word to the form in which it is compared: without case, accents, spaces and punctuation. */
export function toPlain(text: string): string {
  const plain = text.toLowerCase()
  // Most texts are ASCII.
  if (/^[a-z0-9]*$/.test(plain)) return plain
  return plain.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')
}

/** Splits names that are separated by commas. */
export function toPlainNames(list: string): readonly string[] {
  return list.split(', ').map(toPlain)
}

/** Names of the address column. */
export const ADDRESS_NAMES = toPlainNames(
  'email, e-mail address, mail, email id, subscriber email, user email, contact email, subscriber, address, ' +
    'Mailadresse, Mail-Adresse, E-Mail-Adresse, Adresse e-mail, Adresse électronique, Courriel, Correo, ' +
    'Correo electrónico, Indirizzo e-mail, E-mailadres, Adres e-mail, Endereço de e-mail, E-post, E-postadress, ' +
    'Електронна пошта, メールアドレス, 邮箱, 电子邮件, البريد الإلكتروني',
)

/** Names of the date of the subscription, the most specific first. */
export const DATE_NAMES = toPlainNames(
  'subscribed at, subscribed on, subscribed date, subscription date, subscribe date, date subscribed, ' +
    'date subscribe, time subscribed, subscription time, Anmeldedatum, Angemeldet am, Inscrit le, ' +
    "Date d'inscription, Abonné le, Fecha de alta, Fecha de suscripción, Data iscrizione, Inschrijfdatum, " +
    'Data zapisu, Data de inscrição, subscribed, OPTIN_TIME, opt-in at, opt-in date, confirmed at, CONFIRM_TIME, ' +
    'signup date, signed up at, signup at, signup timestamp, joined at, join date, joined, date added, added at, ' +
    'added on, added time, date registered, created at, created on, created, creation date, date created, ' +
    'created date, create date, created (UTC), date, timestamp',
)

/** Whether a name is one of the usual names of an address column. */
export function isAddressName(name: string): boolean {
  return ADDRESS_NAMES.includes(toPlain(name))
}

/** A name or a cell in a message. */
export function quote(text = ''): string {
  return JSON.stringify(text.trim().slice(0, 60))
}
