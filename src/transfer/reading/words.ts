/** Words in status columns and notes, in the languages of the page, and how words and names of columns are compared. */

/** Converts a name or a word to the form in which it is compared: without case, accents, spaces and punctuation. */
export function toPlain(text: string): string {
  const plain = text.toLowerCase()
  // Most texts are ASCII, for which this is fast.
  if (/^[ -~]*$/.test(plain)) return plain.replace(/[^a-z0-9]+/g, '')
  return plain.normalize('NFKD').replace(/[^\p{L}\p{N}]/gu, '')
}

const toPhrases = (list: string) => list.trim().split(/,\s+/)

/** Splits names that are separated by commas. */
export function toPlainNames(list: string): readonly string[] {
  return toPhrases(list).map(toPlain)
}

/** What an import does with a row: add the address, leave the row out, or suppress the address. The strictest is last. */
export const STATUSES = ['subscribed', 'skip', 'suppressed'] as const
export type Status = (typeof STATUSES)[number]

/**
 * Words of each kind, in the languages of the page. A cell, or the name of a column or of a file, is compared with them in one of
 * these ways, each without case and accents:
 *
 * - As the whole value, also without spaces and punctuation (`toWords`): the kinds from `yes` to `skip` below, and `alone`. `Opted-in!` is
 *   `opted in`.
 * - As a word among others, without spaces and punctuation too (`toWords`): `name`.
 * - As a phrase anywhere in a text (`toPattern`): `left` and `title`. It begins and ends where a word does, but not in Chinese and
 *   Japanese. With an asterisk at its
 *   end, a word goes on: `unsubscri*` is in "unsubscribed in May". With one at its start, it may be the end of another word: `*bounc*`
 *   is in "softbounces". Between its words may be anything but letters and digits, or nothing: `e mail` is also e-mail and email.
 * - As a phrase at the start of a text (`toPattern`): `not`.
 *
 * Words of `left` that are the whole value mean suppressed too, if no other kind has them.
 */
const KINDS = {
  // Whole values: answers of people, then flags. A column has both.
  yes: `yes, y, ja, j, oui, o, sí, tak, sim, s, так, はい, 是, نعم`,
  no: `no, n, nein, non, nee, nie, não, ні, いいえ, 否, لا`,
  on: `true, t, 1, on, checked, wahr, vrai, verdadero, vero, waar, prawda, verdadeiro, 有`,
  off: `false, f, 0, off, unchecked, falsch, faux, falso, onwaar, fałsz, 無`,
  // Whole values: what each status means.
  subscribed: `
    active, subscribed, confirmed, enabled, opted in, aktiv, abonniert, angemeldet, bestätigt, eingetragen, Abonnent,
    actif, abonné, abonnée, inscrit, inscrite, confirmé, confirmée, activo, activa, suscrito, suscrita, confirmado,
    confirmada, alta, attivo, attiva, iscritto, iscritta, confermato, confermata, actief, ingeschreven, aangemeld,
    bevestigd, geabonneerd, aktywny, aktywna, zapisany, zapisana, subskrybuje, potwierdzony, ativo, ativa, inscrito,
    inscrita, assinante, активний, активна, підписаний, підписана, підтверджений, 有効, 登録済み, 登録, 購読中, 配信中, 活跃, 订阅, 已订阅,
    已确认, 有效, نشط, مشترك, مؤكد`,
  suppressed: `
    bounced, bouncing, cleaned, complained, complaint, spam, blocked, banned, deleted, removed, undeliverable, bounce,
    revoked, withdrawn, junk, marked as spam, trash, unreachable, blockiert, gelöscht, bloqué, bloquée, supprimé,
    supprimée, plainte, baja, dado de baja, dada de baja, bloqueado, rebotado, eliminado, queja, cancellato, cancellata,
    bloccato, rimbalzato, eliminato, rimosso, geblokkeerd, verwijderd, onbestelbaar, klacht, zablokowany, odbity,
    usunięty, usunięta, rejeitado, removido, excluído, заблокований, видалений, скарга, 解除, 解除済み, 停止, 退会済み, 解約済み, 削除,
    ブロック, 已退订, 已取消订阅, 退信, 已屏蔽, 已删除, 投诉, غير مشترك, محظور, محذوف, مرتد`,
  skip: `
    pending, unconfirmed, not confirmed, inactive, disabled, cancelled, canceled, archived, not subscribed,
    non-subscribed, never subscribed, no consent, soft bounced, validating, needs approval, inaktiv, ausstehend,
    unbestätigt, nicht bestätigt, wartend, gekündigt, inactif, en attente, non confirmé, non confirmée, non inscrit,
    annulé, inactivo, inactiva, pendiente, sin confirmar, no confirmado, no suscrito, cancelado, inattivo, inattiva,
    in attesa, non confermato, non iscritto, annullato, inactief, in afwachting, onbevestigd, niet bevestigd,
    geannuleerd, nieaktywny, nieaktywna, oczekujący, niepotwierdzony, anulowany, inativo, inativa, pendente,
    não confirmado, não inscrito, неактивний, очікує, непідтверджений, скасований, 無効, 保留, 未確認, 仮登録, 未登録, 待确认, 未确认, 未订阅,
    未激活, 无效, غير نشط, معلق, غير مؤكد, قيد الانتظار`,
  // Phrases anywhere in a cell, such as "hard bounced twice" with `hard bounce*`. So they are unambiguous ones only: "active, was
  // pending" is no reason to skip a row.
  left: `
    unsub, unsubs, unsubbed, unsubscri*, opt out, opted out, opting out, opts out, do not mail, do not e mail,
    do not contact, don t mail, don t e mail, no mail, no mails, no more mail, no more mails, no more emails,
    hard bounce*, consent revoked, consent withdrawn, revoked consent, withdrew consent, deactivat*, blacklist*,
    blocklist*, suppressed, abgemeldet*, abmeld*, abbestell*, ausgetragen, ausgetreten, keine mails mehr,
    keine e mails mehr, deaktiviert*, keinen newsletter, gesperrt, désabonn*, désactivé*, ne pas contacter,
    ne plus contacter, ne plus envoyer, de baja, la baja, desuscri*, desactivad*, no contactar, no enviar, disiscri*,
    disattivat*, non contattare, non inviare, uitgeschreven, afgemeld, gedeactiveerd, niet mailen, geen mail,
    geen mails, wypisan*, wypisał*, zrezygnował*, nie wysyłać, descadastr*, desinscri*, não contatar, não enviar,
    відпис*, не надсилати, 配信停止, 購読解除, 登録解除, 退会, 解約, 退订, 取消订阅, ألغى الاشتراك, ملغى الاشتراك, إلغاء الاشتراك,
    remove from list, remove from the list, remove me, please remove, removed on request, removed by request,
    off the list, left the list, not interested, no longer wants, gdpr erasure, gdpr delet*, deceased, spam complaint*,
    keine mail mehr, keine e mail mehr, keine werbung, will nicht mehr, möchte nicht mehr, möchte keine, will keine,
    austritt*, kündig*, gekündigt*, widerruf*, widersproch*, widerspruch*, verstorben*, unzustellbar*,
    mail kommt zurück, ne souhaite plus, ne veut plus, plus d e mail*, rejeté*, décédé*, no quiere, ya no desea,
    no desea recibir, fallecid*, non vuole, non desidera, decedut*, wil geen, overleden, opgezegd*, nie chce, zmarł*,
    rezygnacj*, não quer, não deseja, falecid*, не хоче, не бажає, помер*, 配信不要, 送信不要, 不要再, 不想收, لا يريد`,
  // Whole values: "STOP!" in a column for notes, but not "a stop on the way".
  alone: `stop, stopp, стоп, ストップ`,
  // Phrases anywhere in the name of a file, or in what is above the rows of a list, beside those of `left`: "unsubscribes.csv" with
  // `*unsub*`, and "Former readers" with `former*`. "Performers" begins before the phrase, so it is none.
  title: `
    *unsub*, *non subscr*, *opt outs*, *bounc*, *complain*, *suppress*, *cleaned*, *blocked*, *blocklist*, *invalid*,
    *inactiv*, *removed*, *delet*, former*, spam*, left, *sperr*, *rückl*, *kündigung*, *rebond*, *lista negr*, *bajas*, *queja*,
    *rimbalz*, *reclama*, *uitschr*, *klacht*, *skarg*, *чорн*, *バウンス*, *黑名*, *محظور*`,
  // Words of the name of a column, beside those of `left` and `suppressed`: "removed_on" and "isRemoved" have the word `removed`, but
  // "removable" has not.
  name: `
    left, gone, quit, exit, exited, removed, removal, bounce, bounced, dnc, suspended, suspension, excluded, exclude,
    disabled, expelled, resigned, cancelled, canceled, weg, entfernt, ausgeschlossen, ausgeschieden, parti, sorti, retiré,
    exclu, salida, excluido, uscito, escluso, weggegaan, vertrokken, uitgesloten, odszedł, wykluczony, saiu, saída,
    вийшов, виключений`,
  // Phrases at the start of a cell that says no, with a space or an apostrophe behind them: "not a reader" and "don't write", but
  // neither "nothing" nor "why not".
  not: `
    not, do not, don t, does not, doesn t, didn t, never, nicht, kein, keine, keinen, ne pas, pas, non, niet, geen, nie,
    não, не, немає, ні, لا, غير`,
} as const

/** The plain words of a kind, in any language. */
export const toWords = (kind: keyof typeof KINDS): ReadonlySet<string> => new Set(toPlainNames(KINDS[kind]))

const YES = toWords('yes')
const NO = toWords('no')
const ON = toWords('on')
const OFF = toWords('off')

const STATUS_WORDS = STATUSES.map((status) => ({ status, words: toWords(status) }))

/** What a plain word means that is the whole value, in any language. */
export function findStatus(word: string): Status | undefined {
  const found = STATUS_WORDS.find(({ words }) => words.has(word))
  if (found) return found.status
  return ONLY_LEFT.test(word) ? 'suppressed' : undefined
}

/** Whether a plain word is a flag in a column, in any language. `0` and `f` are flags too, although they may be a number or a letter. */
export function findFlag(word: string): 'yes' | 'no' | undefined {
  if (YES.has(word) || ON.has(word)) return 'yes'
  if (NO.has(word) || OFF.has(word)) return 'no'
  return undefined
}

/** Whether what a person types means yes or no, in any language; undefined for everything else. */
export function findAnswer(text: string): 'yes' | 'no' | undefined {
  const word = toPlain(text)
  if (YES.has(word)) return 'yes'
  if (NO.has(word)) return 'no'
  return undefined
}

/** A value as it is compared. A sign such as ✓ is a value too. */
export function toPlainValue(text: string): string {
  return toPlain(text) || text.trim()
}

const LEFT = toPattern(toPhrases(KINDS.left))
const ONLY_LEFT = new RegExp(`^(?:${LEFT.source})$`, 'u')
const ALONE = toWords('alone')
const LEFT_TITLE = toPattern(toPhrases(KINDS.title))
const LEFT_NAME = toWords('name')
const NOT = toPattern(toPhrases(KINDS.not))
/** In Chinese, no space follows. Japanese says it at the end. */
const BEGINS_WITH_NOT = new RegExp(`^(?:(?:${NOT.source})[ '’]|[不未禁否])|(?:しない|不可|不要)$`, 'u')
/** The answers that are no letter: `n` may be anything. */
const NO_ANSWERS = new Set([...NO].filter((word) => !/^[a-z]$/.test(word)))

/** Whether the name of a file, or what is above the rows of a list, says that the people in it left. */
export function saysTitleLeft(title: string): boolean {
  // A system may write an accent as a mark of its own, which is no letter.
  return LEFT_TITLE.test(toBare(title)) || saysLeft(title.normalize('NFC').replace(/[^\p{L}]+/gu, ','))
}

/**
 * Whether a cell, or the name of a column, says that somebody left: with a phrase among other words, or with a whole value, which may be
 * one of several, as in `news, unsubscribed`.
 */
export function saysLeft(cell: string): boolean {
  // Most cells of some columns are numbers. An address or a link says nothing about its person.
  if (/^(?:\d*|https?:\S*|[^\s@]+@[^\s@]+)$/.test(cell)) return false
  if (LEFT.test(toBare(cell))) return true
  const isWord = (word: string) => findStatus(toPlain(word)) === 'suppressed'
  // In a cell of JSON, quotes and braces are between the words too.
  const separator = cell.startsWith('{') ? /[^\p{L}\p{N}]+/u : /[,;|]/
  return ALONE.has(toPlain(cell)) || cell.split(separator).some(isWord)
}

/** Whether the name of a column says that people left: `removed_on`, `Bounce date`, `isUnsubscribed`. */
export function saysNameLeft(name: string): boolean {
  const spaced = name.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
  if (saysLeft(name) || saysLeft(spaced)) return true
  const isWord = (word: string) => LEFT_NAME.has(toPlain(word)) || findStatus(toPlain(word)) === 'suppressed'
  const words = spaced.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  return words.some(isWord)
}

/** Whether a cell says no in words: an answer such as `nein`, or one that begins with `not` or `do not`. */
export function saysNo(cell: string): boolean {
  return NO_ANSWERS.has(toPlain(cell)) || BEGINS_WITH_NOT.test(toBare(cell))
}

/** Matches any of the phrases. Chinese and Japanese have no spaces between words. */
function toPattern(phrases: readonly string[]): RegExp {
  const sources = phrases.map((phrase) => {
    const words = toBare(phrase).replaceAll('*', '').split(' ').join('[^\\p{L}\\p{N}]*')
    if (/\p{Script=Han}/u.test(phrase)) return words
    const start = phrase.startsWith('*') ? '' : '(?<!\\p{L})'
    const end = phrase.endsWith('*') ? '\\p{L}*' : '(?!\\p{L})'
    return start + words + end
  })
  return new RegExp(sources.join('|'), 'u')
}

/** Without case and accents. */
function toBare(text: string): string {
  const lower = text.toLowerCase()
  return /^[\0-\x7f]*$/.test(lower) ? lower : lower.normalize('NFKD').replace(/\p{M}/gu, '')
}
