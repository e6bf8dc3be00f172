/** The columns of other programs: addresses, dates, and what says who left. Data. */

import { type Status, toPlain, toPlainNames } from './words.ts'

// Kinds of values in this table. Any other value in it is compared like a name.
/** Any word that means yes. */
export const YES = 'yes'
/** Any word that means no. */
export const NO = 'no'
/** No value. */
export const EMPTY = 'empty'
/** Any date. */
export const DATE = 'date'

/** What the values of some columns mean. Without values, the words of `words.ts` count. */
export interface StatusRule extends Partial<Readonly<Record<Status, readonly string[]>>> {
  /** For the reader of the table. */
  readonly program: string
  readonly columns: readonly string[]
  /** Words count besides the values. */
  readonly hasWords?: true
  /** Counts only in a file that has one of these columns too. */
  readonly with?: readonly string[]
  /** Counts only in a file that has none of these columns. */
  readonly without?: readonly string[]
  /** Bounces, complaints and confirmations: the column does not say who unsubscribed. */
  readonly isPartial?: true
}

/** The usual column of people who left. */
const LEFT = { subscribed: [NO, EMPTY], suppressed: [YES, DATE] } as const
/** One of a file that has only people who left: an empty value is unknown. */
const ALL_LEFT = { subscribed: [NO], suppressed: [YES, DATE] } as const

/**
 * When columns of several programs have one name, the values of all of them count, so the program does not have to be
 * recognized. A column without values of its own is in the table once. test/transfer/fixtures/README.md names the sources.
 */
// biome-ignore format: a table, with one line for each rule
export const RULES: readonly StatusRule[] = [
  { program: 'Mailchimp', columns: ['UNSUB_TIME'], ...ALL_LEFT },
  { program: 'Mailchimp', columns: ['CLEAN_TIME'], ...ALL_LEFT, isPartial: true },
  // Ghost subscribes every member, so "no" means that the member has unsubscribed.
  { program: 'Ghost', columns: ['subscribed_to_emails'], subscribed: [YES], suppressed: [NO] },
  { program: 'Ghost', columns: ['deleted_at'], ...LEFT },
  { program: 'Substack', columns: ['email_disabled'], ...LEFT },
  // Other programs have the kind of a paid subscription in a column of the name "type".
  { program: 'Buttondown', columns: ['type'], with: ['creation_date', 'unsubscription_date'],
    subscribed: ['regular', 'premium', 'trialed', 'gifted', 'churning', 'paused', 'past_due'],
    suppressed: ['unsubscribed', 'complained', 'undeliverable', 'spammy', 'blocked', 'removed'],
    skip: ['unactivated', 'unpaid', 'churned', 'disabled'] },
  { program: 'Buttondown', columns: ['unsubscription_date'], ...LEFT },
  // Beside these columns, "state" is a part of a postal address, or the state of an account in a shop.
  { program: 'Kit', columns: ['state'], without: ['address', 'address1', 'street', 'city', 'zip', 'zip code', 'postcode',
    'postal code', 'country', 'Default Address City', 'status'] },
  { program: 'beehiiv', columns: ['unsubscribed_at'], ...LEFT },
  // A date in the files of MailerLite, and a flag in those of other programs, where an empty one says nothing.
  { program: 'MailerLite', columns: ['Subscribed'], subscribed: [YES, DATE], suppressed: [NO] },
  { program: 'MailerLite', columns: ['Subscribed'], with: ['Unsubscribed', 'Clicked'], skip: [EMPTY] },
  { program: 'MailerLite', columns: ['Unsubscribed'], ...LEFT },
  { program: 'MailerLite Classic', columns: ['type'], with: ['date_subscribe', 'date_unsubscribe'] },
  { program: 'MailerLite Classic', columns: ['date_unsubscribe'], ...LEFT },
  { program: 'Brevo', columns: ['EMAIL_BLACKLISTED', 'BLACKLISTED'], ...LEFT },
  { program: 'HubSpot', columns: ['Unsubscribed from all email', 'Portal Unsubscribe'], ...LEFT },
  { program: 'HubSpot', columns: ['Portal Spam Report', 'Portal Bounce', 'Global Bounce'], ...LEFT, isPartial: true },
  { program: 'Campaign Monitor', columns: ['Date unsubscribed'], ...LEFT },
  // Most customers with "no" have never subscribed.
  { program: 'Shopify', columns: ['Accepts Email Marketing'], subscribed: [YES], skip: [NO, EMPTY] },
  { program: 'MailPoet', columns: ['List status', 'Global status'] },
  { program: 'Google Groups', columns: ['Group status'], subscribed: ['member', 'manager', 'owner'], suppressed: ['banned'],
    skip: ['invited', 'pending'] },
  { program: 'Google Groups', columns: ['Email status'], with: ['Group status'], subscribed: [EMPTY], suppressed: ['bouncing'] },
  { program: 'Google Groups', columns: ['Email preference'], with: ['Group status'], skip: ['no email', 'none'],
    subscribed: ['all email', 'each email', 'email', 'digest', 'abridged', 'daily'] },
  { program: 'phpList', columns: ['Is this subscriber confirmed'], subscribed: [YES], skip: [NO, EMPTY], isPartial: true },
  { program: 'phpList', columns: ['Is this subscriber blacklisted'], ...LEFT },
  { program: 'phpList', columns: ['Is this account disabled?'], subscribed: [NO, EMPTY], skip: [YES], isPartial: true },
  { program: 'Klaviyo', columns: ['Email Marketing Consent'], skip: [NO, EMPTY], hasWords: true },
  { program: 'Wix', columns: ['Email subscriber status'], skip: [EMPTY], hasWords: true },
  // Programs that have only such a column, spreadsheets, and columns that people made.
  { program: 'Other programs', columns: ['status', 'subscriber_status', 'subscription_status', 'email_status', 'Marketing status',
    'Person - Marketing status', 'Statut', 'Stato', 'Abostatus', 'Newsletter-Status', "Statut d'abonnement", 'Subscriber Type'] },
  { program: 'Other programs', columns: ['unsubscribed_on', 'unsubscribe_date', 'unsubscribed date', 'opted_out', 'opt_out',
    'opt_out_date', 'Email Opt Out', 'blocklisted', 'Abgemeldet', 'Abgemeldet am', 'Abmeldedatum', 'Désinscrit', 'Désinscrit le',
    'Date de désinscription', 'Désabonné', 'Désabonné le', 'Fecha de baja', 'Disiscritto', 'Uitgeschreven', 'Uitgeschreven op'],
    ...LEFT },
  { program: 'Other programs', columns: ['bounced', 'bounced_at', 'complained_at'], ...LEFT, isPartial: true },
  { program: 'Other programs', columns: ['is_subscribed'], subscribed: [YES], suppressed: [NO] },
  { program: 'Other programs', columns: ['Newsletter', 'active', 'is_active', 'aktiv', 'actif'], subscribed: [YES, DATE],
    skip: [NO, EMPTY], hasWords: true },
  { program: 'Other programs', columns: ['opt_in', 'opted_in', 'confirmed', 'is_confirmed', 'confirmed_at'],
    subscribed: [YES, DATE], skip: [NO, EMPTY], hasWords: true, isPartial: true },
]

/** Columns of exports that have subscribers only. An export with one of them needs no column that says who left. */
export const SUBSCRIBERS_ONLY = toPlainNames('LEID, EUID, Emails received (6mo), Emails opened (6mo)')

/** Each list is a sign of a program whose status says nothing about one list. */
export const GLOBAL_STATUS = [
  { program: 'listmonk', columns: ['uuid', 'email', 'attributes', 'status'] },
  { program: 'Mautic', columns: ['email', 'points', 'attribution', 'date_identified'] },
] as const

/** Columns that say nothing about email, also if a cell says that somebody left. */
export const UNRELATED_NAMES: ReadonlySet<string> = new Set(
  toPlainNames(`
    SMS, SMS_BLACKLISTED, SMS status, SMS subscriber status, SMS marketing consent, SMS opt out, Accepts SMS Marketing,
    WHATSAPP, WHATSAPP_BLACKLISTED, WhatsApp opt out, Direct mail opt out, Fax opt out, Push opt out, unsubscribe url,
    unsubscribe link, unsubscribe token, unsubscribe hash, Marketing emails bounced, Last Activity, Activity`),
)

/**
 * Columns that do not say who left, of files that were met. Those whose values say nothing need no name here, and another one is a
 * doubt that the owner answers once.
 */
const HARMLESS_NAMES: ReadonlySet<string> = new Set(
  toPlainNames(`
    leid, euid, name, full name, display name, first name, last name, middle name, nickname, username, initial, title,
    prefix, suffix, merge first name, Vorname, Nachname, Anrede, prénom, nom, nombre, apellido, nome, voornaam, imię,
    sobrenome, прізвище, 氏名, 姓名, الاسم, gender, Geschlecht, birthday, Geburtstag, Geburtsdatum, phone, phone number,
    phone value, phone label, telephone, mobile, mobile phone, landline number, Telefonnummer, company, contact,
    company name, organization, organization name, associated company, department, job title, position, role, profession,
    Firma, Abteilung, société, address, street, city, region, county, zip, zip code, postal code, country, country region,
    state region, state province, cc, location, home state, latitude, longitude, timezone, gmtoff, dstoff, Straße, PLZ,
    Postleitzahl, Ort, ville, pays, language, Sprache, id, cid, uuid, seq, external id, ext id, contact id, customer id,
    record id, user id, member id, stripe customer id, hash email, ip, ip address, optin ip, confirm ip, signup ip,
    confirmation ip, source, source form, subscription source (free), original source, referrer, utm source, sign up url,
    website, web page, avatar, Webseite, email label, send this subscriber html emails, member rating, rating, sent,
    opened, clicked, number of bounces, num emails opened, orders, order count, total spent, total spend,
    total spent (usd), average order value, aov, ltv, revenue, currency, last order date, payment count, updated at,
    updated, last changed, last modified, modified time, last edited time, last open, last click, last activity date,
    last active, first active, last email open, last clicked at, labels, list, list membership, mailing lists, free tier,
    premium tier, tiers, attributes, permission to track, active subscription, complimentary plan, join hour, join minute,
    join second`),
)

/** Whether a column of that plain name does not say who left: `phone`, and so "Phone 1" and "Home Phone". */
export function isHarmless(plain: string): boolean {
  const place = /^(?:home|work|business|billing|shipping|defaultaddress|primary|other|address)|\d+/g
  return HARMLESS_NAMES.has(plain) || HARMLESS_NAMES.has(plain.replace(place, ''))
}

/**
 * The plain name of a column that probably says who left. Such columns come first in an advice. In an export that has subscribers only, a
 * no in one of them is a doubt too, and a no in another column is not.
 */
export const STATUS_NAME =
  /stat(?:us|e|o|ut)|consent|opt|subscri|newsletter|mailing|permission|einwillig|abo|rgpd|gdpr|marketing|підпис|購読|配信|订阅|状態|状态|situac/

/** Names of the address column. */
export const ADDRESS_NAMES = toPlainNames(`
    email, e-mail address, mail, email id, email 1, email 1 value, email address 1, primary email, email value,
    subscriber email, user email, customer email, member email, contact email, work email, work email address,
    personal email, home email, secondary email, alternate email, other email, recipient, subscriber, address, Mailadresse,
    E-Mail-Adresse, Adresse e-mail, Adresse électronique, Courriel, Correo, Correo electrónico, Indirizzo e-mail,
    E-mailadres, Adres e-mail, Endereço de e-mail, E-post, E-postadress, Електронна пошта, メールアドレス, 邮箱, 电子邮件,
    البريد الإلكتروني`)

/** Whether a column has the name of an address. */
export function isAddressName(name: string): boolean {
  return ADDRESS_NAMES.includes(toPlain(name))
}

/** Names of the date of the subscription, the most specific first. */
export const DATE_NAMES = toPlainNames(`
    subscribed at, subscribed on, subscribed date, subscription date, subscribe date, date subscribed, date subscribe,
    time subscribed, subscription time, subscriber since, subscribed since, Anmeldedatum, Angemeldet am, Abonniert am,
    Inscrit le, Date d'inscription, Abonné le, Date d'abonnement, Fecha de alta, Fecha de suscripción, Fecha de inscripción,
    Data iscrizione, Data di iscrizione, Inschrijfdatum, Aanmelddatum, Data zapisu, Data de inscrição, Дата підписки, 購読日,
    订阅日期, تاريخ الاشتراك, subscribed, OPTIN_TIME, opt-in at, opt-in date, email marketing consent timestamp, confirmed at,
    CONFIRM_TIME, signup date, signed up at, signed up on, signed up, signup at, sign up, signup timestamp, signup time,
    joined at, join date, joined, joined on, date joined, date added, date added (UTC), subscribed time, added at, added on,
    added time, date registered, registered at, registered on, registration date, registered, registration time,
    Registrierungsdatum, Registriert am, Eingetragen am, Hinzugefügt am, Fecha de registro, Data di registrazione,
    Data rejestracji, Data de registro, Data de cadastro, Дата реєстрації, Anmäld, 登録日, 登録日時, 注册日期, تاريخ التسجيل,
    confirmation timestamp, member since, created at, created at (UTC+0), created on, created time, created, creation date,
    creation time, date created, created date, create date, created (UTC), profile created on, Erstellt am, Erstellt,
    Erstellungsdatum, Date de création, Créé le, Fecha de creación, Data di creazione, Datum aangemaakt, Data utworzenia,
    Data de criação, Дата створення, 作成日, 作成日時, 创建时间, date, timestamp, Datum, Zeitstempel, Horodateur, entered,
    Marca temporal, Informazioni cronologiche, Tijdstempel, Sygnatura czasowa, Carimbo de data/hora, Позначка часу, タイムスタンプ,
    时间戳, طابع زمني, start date`)
