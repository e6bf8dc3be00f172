/** The columns of other programs: addresses, dates, and what says who left. Data only. */

import { type Status, toPlain, toPlainNames } from './words.ts'

/** Stand for any word that means yes or no, for no value, and for any date. Other values are compared like names. */
export const [YES, NO, EMPTY, DATE] = ['yes', 'no', 'empty', 'date'] as const

/** What the values of some columns mean. Without values, the words of `words.ts` count. */
export interface StatusRule extends Partial<Readonly<Record<Status, readonly string[]>>> {
  readonly columns: readonly string[]
  /** Words count besides the values. */
  readonly hasWords?: true
  /** Counts only in a file without another status column and without parts of a postal address. */
  readonly isWeak?: true
  /** Counts only in a file that has one of these columns too. */
  readonly with?: readonly string[]
  /** Bounces and complaints: they do not show that the file also says who unsubscribed. */
  readonly hasBouncesOnly?: true
}

export interface Program {
  readonly name: string
  readonly rules: readonly StatusRule[]
  /** Columns that no other program has. In its files, what other columns look like is no evidence. */
  readonly own?: readonly string[]
}

/** The usual column of people who left, and one of a file of people who left: there, an empty value is unknown. */
const LEFT = { subscribed: [NO, EMPTY], suppressed: [YES, DATE] } as const
const ALL_LEFT = { subscribed: [NO], suppressed: [YES, DATE] } as const

/**
 * When columns of several programs have one name, the values of all of them count, so the program does not have to be
 * recognized. A column without values of its own is in the table once. test/transfer/fixtures/README.md names the sources.
 */
// biome-ignore format: a table, with one line for each rule
export const PROGRAMS: readonly Program[] = [
  { name: 'Mailchimp', own: ['LEID', 'EUID'], rules: [
    { columns: ['UNSUB_TIME'], ...ALL_LEFT },
    { columns: ['CLEAN_TIME'], ...ALL_LEFT, hasBouncesOnly: true },
  ] },
  // Ghost subscribes every member, so "no" means that the member has unsubscribed.
  { name: 'Ghost', own: ['subscribed_to_emails', 'complimentary_plan'], rules: [
    { columns: ['subscribed_to_emails'], subscribed: [YES], suppressed: [NO] },
    { columns: ['deleted_at'], ...LEFT },
  ] },
  { name: 'Substack', own: ['email_disabled', 'Emails received (6mo)', 'Emails opened (6mo)'], rules: [
    { columns: ['email_disabled'], ...LEFT },
  ] },
  // Other programs have the kind of a paid subscription in a column of the name "type".
  { name: 'Buttondown', rules: [
    { columns: ['type'], with: ['creation_date', 'unsubscription_date'],
      subscribed: ['regular', 'premium', 'trialed', 'gifted', 'churning', 'paused', 'past_due'],
      suppressed: ['unsubscribed', 'complained', 'undeliverable', 'spammy', 'blocked', 'removed'],
      skip: ['unactivated', 'unpaid', 'churned', 'disabled'] },
    { columns: ['unsubscription_date'], ...LEFT },
  ] },
  // Elsewhere "state" is a part of a postal address, or the state of an account in a shop.
  { name: 'Kit', rules: [{ columns: ['state'], isWeak: true }] },
  { name: 'beehiiv', rules: [{ columns: ['unsubscribed_at'], ...LEFT }] },
  // "Subscribed" is a date in the files of MailerLite, and a flag in those of other programs.
  { name: 'MailerLite', rules: [
    { columns: ['Subscribed'], subscribed: [YES, DATE], suppressed: [NO], skip: [EMPTY] },
    { columns: ['Unsubscribed'], ...LEFT },
  ] },
  { name: 'MailerLite Classic', own: ['confirmation_timestamp', 'date_unsubscribe'], rules: [
    { columns: ['type'], with: ['date_subscribe', 'date_unsubscribe'] },
    { columns: ['date_unsubscribe'], ...LEFT },
  ] },
  { name: 'Brevo', own: ['EMAIL_BLACKLISTED'], rules: [{ columns: ['EMAIL_BLACKLISTED', 'BLACKLISTED'], ...LEFT }] },
  { name: 'HubSpot', own: ['Unsubscribed from all email', 'Portal Unsubscribe'], rules: [
    { columns: ['Unsubscribed from all email', 'Portal Unsubscribe'], ...LEFT },
    { columns: ['Portal Spam Report', 'Portal Bounce', 'Global Bounce'], ...LEFT, hasBouncesOnly: true },
  ] },
  { name: 'Campaign Monitor', rules: [{ columns: ['Date unsubscribed'], ...LEFT }] },
  // Most customers with "no" have never subscribed.
  { name: 'Shopify', own: ['Accepts Email Marketing'], rules: [
    { columns: ['Accepts Email Marketing'], subscribed: [YES], skip: [NO, EMPTY] },
  ] },
  { name: 'MailPoet', own: ['Global status'], rules: [{ columns: ['List status', 'Global status'] }] },
  { name: 'Google Groups', own: ['Posting permissions'], rules: [
    { columns: ['Group status'], subscribed: ['member', 'manager', 'owner'], suppressed: ['banned'], skip: ['invited', 'pending'] },
    { columns: ['Email status'], with: ['Group status'], subscribed: [EMPTY], suppressed: ['bouncing'] },
    { columns: ['Email preference'], with: ['Group status'], skip: ['no email', 'none'],
      subscribed: ['all email', 'each email', 'email', 'digest', 'abridged', 'daily'] },
  ] },
  { name: 'Klaviyo', own: ['Klaviyo ID'], rules: [
    { columns: ['Email Marketing Consent'], skip: [NO, EMPTY], hasWords: true },
  ] },
  { name: 'Wix', own: ['Email subscriber status'], rules: [
    { columns: ['Email subscriber status'], skip: [EMPTY], hasWords: true },
  ] },
  // Programs that have only such a column, spreadsheets, and columns that people made.
  { name: 'Other programs', rules: [
    { columns: ['status', 'subscriber_status', 'subscription_status', 'email_status', 'Marketing status', 'Person - Marketing status', 'Statut', 'Stato', 'Abostatus',
      'Newsletter-Status', "Statut d'abonnement", 'Subscriber Type'] },
    { columns: ['unsubscribed_on', 'unsubscribe_date', 'unsubscribed date', 'opted_out', 'opt_out', 'opt_out_date', 'Email Opt Out',
      'blocklisted', 'Abgemeldet', 'Abgemeldet am', 'Abmeldedatum', 'Désinscrit', 'Désinscrit le', 'Date de désinscription',
      'Désabonné', 'Désabonné le', 'Fecha de baja', 'Disiscritto', 'Uitgeschreven', 'Uitgeschreven op'], ...LEFT },
    { columns: ['bounced', 'bounced_at', 'complained_at'], ...LEFT, hasBouncesOnly: true },
    { columns: ['is_subscribed'], subscribed: [YES], suppressed: [NO], skip: [EMPTY] },
    { columns: ['opt_in', 'opted_in', 'Newsletter', 'active', 'is_active', 'aktiv', 'actif', 'confirmed', 'is_confirmed',
      'confirmed_at'], subscribed: [YES, DATE], skip: [NO, EMPTY], hasWords: true },
  ] },
]

/** Columns that only one program has. */
export const OWN_NAMES = new Set(PROGRAMS.flatMap(({ own = [] }) => own.map(toPlain)))

/** Columns that have other meanings, in any file. The last ones look like a status, in files of beehiiv and HubSpot. */
export const HARMLESS_NAMES = toPlainNames(
  'id, uuid, seq, member rating, GMTOFF, DSTOFF, CC, sent, opened, clicked, opens, clicks, orders, total orders, ' +
    'language, lang, locale, country, country code, gender, sex, birthday, birth date, date of birth, Geburtstag, ' +
    'updated at, updated, last changed, last updated, modified at, last modified, modified time, date modified, ' +
    'last open, last click, last opened, last clicked, last activity, last seen, last active, last login, last sent, ' +
    'last email, unsubscribe url, unsubscribe link, unsubscribe token, ' +
    'Free Tier, Premium Tier, Marketing emails bounced',
)

/** Parts of names of columns of consent. */
export const CONSENT_PARTS = toPlainNames(
  'opt in, opted in, consent, einwilligung, consenso, toestemming, zgoda, згода, الموافقة',
)

/** Parts of names that may say something about a subscription. */
export const STATUS_PARTS = [...CONSENT_PARTS, ...toPlainNames('status, statut, cancel')]

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
