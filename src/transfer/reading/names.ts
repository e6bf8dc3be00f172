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
  'email, e-mail address, mail, email id, email 1, subscriber email, user email, contact email, subscriber, ' +
    'address, Mailadresse, E-Mail-Adresse, Adresse e-mail, Adresse électronique, Courriel, Correo, ' +
    'Correo electrónico, Indirizzo e-mail, E-mailadres, Adres e-mail, Endereço de e-mail, E-post, E-postadress, ' +
    'Електронна пошта, メールアドレス, 邮箱, 电子邮件, البريد الإلكتروني',
)

/** Names of the date of the subscription, the most specific first. */
export const DATE_NAMES = toPlainNames(
  'subscribed at, subscribed on, subscribed date, subscription date, subscribe date, date subscribed, ' +
    'date subscribe, time subscribed, subscription time, subscriber since, subscribed since, Anmeldedatum, ' +
    "Angemeldet am, Abonniert am, Inscrit le, Date d'inscription, Abonné le, Date d'abonnement, Fecha de alta, " +
    'Fecha de suscripción, Fecha de inscripción, Data iscrizione, Data di iscrizione, Inschrijfdatum, Aanmelddatum, ' +
    'Data zapisu, Data de inscrição, Дата підписки, 購読日, 订阅日期, تاريخ الاشتراك, subscribed, OPTIN_TIME, opt-in at, ' +
    'opt-in date, email marketing consent timestamp, confirmed at, CONFIRM_TIME, signup date, signed up at, ' +
    'signed up on, signed up, signup at, sign up, signup timestamp, signup time, joined at, join date, joined, ' +
    'joined on, date joined, date added, added at, added on, added time, date registered, registered at, ' +
    'registered on, registration date, registered, registration time, Registrierungsdatum, Registriert am, ' +
    'Eingetragen am, Hinzugefügt am, Fecha de registro, Data di registrazione, Data rejestracji, Data de registro, ' +
    'Data de cadastro, Дата реєстрації, Anmäld, 登録日, 登録日時, 注册日期, تاريخ التسجيل, confirmation timestamp, ' +
    'member since, created at, created at (UTC+0), created on, created time, created, creation date, creation time, ' +
    'date created, created date, create date, created (UTC), profile created on, Erstellt am, Erstellt, ' +
    'Erstellungsdatum, Date de création, Créé le, Fecha de creación, Data di creazione, Datum aangemaakt, ' +
    'Data utworzenia, Data de criação, Дата створення, 作成日, 作成日時, 创建时间, date, timestamp, Datum, Zeitstempel, ' +
    'Horodateur, Marca temporal, Informazioni cronologiche, Tijdstempel, Sygnatura czasowa, Carimbo de data/hora, ' +
    'Позначка часу, タイムスタンプ, 时间戳, طابع زمني, start date',
)

/** Whether a name is one of the usual names of an address column. */
export function isAddressName(name: string): boolean {
  return ADDRESS_NAMES.includes(toPlain(name))
}
