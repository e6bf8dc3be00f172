/** Words in status columns and notes, in the languages of the page. */

import { toPlain, toPlainNames } from './names.ts'

/** What an import does with a row: add the address, leave the row out, or suppress the address. The strictest is last. */
export const STATUSES = ['subscribed', 'skip', 'suppressed'] as const
export type Status = (typeof STATUSES)[number]

interface Words extends Readonly<Record<Status, string>> {
  readonly yes: string
  readonly no: string
  /** What says anywhere in a cell that somebody left: unambiguous words only. With an asterisk, a word goes on. */
  readonly left: string
}

const LANGUAGES: Readonly<Record<string, Words>> = {
  en: {
    yes: 'yes, y, true, t, 1, on',
    no: 'no, n, false, f, 0, off',
    subscribed: 'active, subscribed, confirmed, enabled, opted in',
    suppressed:
      'unsubscribed, opted out, bounced, hard bounced, bouncing, cleaned, complained, complaint, spam, blocked, banned, ' +
      'blocklisted, blacklisted, suppressed, deleted, removed, undeliverable, unsub, opt out, bounce, hard bounce, ' +
      'do not mail, no mail, revoked, withdrawn, junk, marked as spam, trash, unreachable',
    skip:
      'pending, unconfirmed, not confirmed, inactive, disabled, cancelled, canceled, archived, not subscribed, ' +
      'non-subscribed, never subscribed, soft bounced, validating, needs approval',
    left:
      'unsub, unsubs, unsubbed, unsubscri*, opt out, opted out, opting out, opts out, do not mail, do not email, do not e mail, do not contact, ' +
      'don t mail, don t email, no mail, no mails, no more mail, no more mails, no more emails, hard bounce*, ' +
      'consent revoked, consent withdrawn, revoked consent, withdrew consent',
  },
  de: {
    yes: 'ja, j, wahr',
    no: 'nein, falsch',
    subscribed: 'aktiv, abonniert, angemeldet, bestätigt, eingetragen, Abonnent',
    suppressed: 'abgemeldet, abbestellt, ausgetragen, gesperrt, blockiert, unzustellbar, gelöscht, widerrufen',
    skip: 'inaktiv, ausstehend, unbestätigt, nicht bestätigt, wartend, gekündigt',
    left:
      'abgemeldet*, abmeld*, abbestell*, ausgetragen, ausgetreten, keine mails mehr, keine e mails mehr, ' +
      'keinen newsletter, einwilligung widerrufen',
  },
  fr: {
    yes: 'oui, o, vrai',
    no: 'non, faux',
    subscribed: 'actif, abonné, abonnée, inscrit, inscrite, confirmé, confirmée',
    suppressed: 'désabonné, désabonnée, désinscrit, désinscrite, bloqué, bloquée, supprimé, supprimée, rejeté, plainte',
    skip: 'inactif, en attente, non confirmé, non confirmée, non inscrit, annulé',
    left: 'désabonn*, désinscri*, ne pas contacter, ne plus contacter, ne plus envoyer',
  },
  es: {
    yes: 'sí, verdadero',
    no: 'falso',
    subscribed: 'activo, activa, suscrito, suscrita, confirmado, confirmada, alta',
    suppressed: 'baja, dado de baja, dada de baja, desuscrito, desuscrita, bloqueado, rebotado, eliminado, queja',
    skip: 'inactivo, inactiva, pendiente, sin confirmar, no confirmado, no suscrito, cancelado',
    left: 'dado de baja, dada de baja, dio de baja, darse de baja, desuscri*, no contactar, no enviar',
  },
  it: {
    yes: 'sì, vero',
    no: 'falso',
    subscribed: 'attivo, attiva, iscritto, iscritta, confermato, confermata',
    suppressed: 'disiscritto, disiscritta, cancellato, cancellata, bloccato, rimbalzato, eliminato, rimosso',
    skip: 'inattivo, inattiva, in attesa, non confermato, non iscritto, annullato',
    left: 'disiscri*, non contattare, non inviare',
  },
  nl: {
    yes: 'ja, waar',
    no: 'nee, onwaar',
    subscribed: 'actief, ingeschreven, aangemeld, bevestigd, geabonneerd',
    suppressed: 'uitgeschreven, afgemeld, geblokkeerd, verwijderd, onbestelbaar, klacht',
    skip: 'inactief, in afwachting, onbevestigd, niet bevestigd, geannuleerd',
    left: 'uitgeschreven, afgemeld, niet mailen, geen mail, geen mails',
  },
  pl: {
    yes: 'tak, prawda',
    no: 'nie, fałsz',
    subscribed: 'aktywny, aktywna, zapisany, zapisana, subskrybuje, potwierdzony',
    suppressed: 'wypisany, wypisana, zrezygnował, zrezygnowała, zablokowany, odbity, usunięty, usunięta',
    skip: 'nieaktywny, nieaktywna, oczekujący, niepotwierdzony, anulowany',
    left: 'wypisan*, wypisał*, zrezygnował*, nie wysyłać',
  },
  'pt-BR': {
    yes: 'sim, s, verdadeiro',
    no: 'não, falso',
    subscribed: 'ativo, ativa, inscrito, inscrita, assinante, confirmado',
    suppressed: 'descadastrado, descadastrada, desinscrito, desinscrita, bloqueado, rejeitado, removido, excluído',
    skip: 'inativo, inativa, pendente, não confirmado, não inscrito, cancelado',
    left: 'descadastr*, desinscri*, não contatar, não enviar',
  },
  uk: {
    yes: 'так',
    no: 'ні',
    subscribed: 'активний, активна, підписаний, підписана, підтверджений',
    suppressed: 'відписаний, відписана, відписався, відписалась, відписалася, заблокований, видалений, скарга',
    skip: 'неактивний, очікує, непідтверджений, не підтверджений, скасований',
    left: 'відпис*, не надсилати',
  },
  ja: {
    yes: 'はい, 有',
    no: 'いいえ, 無',
    subscribed: '有効, 登録済み, 登録, 購読中, 配信中',
    suppressed: '解除, 解除済み, 登録解除, 購読解除, 配信停止, 停止, 退会, 退会済み, 解約, 解約済み, 削除, ブロック',
    skip: '無効, 保留, 未確認, 仮登録, 未登録',
    left: '配信停止, 購読解除, 登録解除, 退会, 解約',
  },
  'zh-Hans': {
    yes: '是',
    no: '否',
    subscribed: '活跃, 订阅, 已订阅, 已确认, 有效',
    suppressed: '退订, 已退订, 取消订阅, 已取消订阅, 退信, 已屏蔽, 已删除, 投诉',
    skip: '待确认, 未确认, 未订阅, 未激活, 无效',
    left: '退订, 取消订阅',
  },
  ar: {
    yes: 'نعم',
    no: 'لا',
    subscribed: 'نشط, مشترك, مؤكد',
    suppressed: 'ألغى الاشتراك, ملغى الاشتراك, غير مشترك, محظور, محذوف, مرتد',
    skip: 'غير نشط, معلق, غير مؤكد, قيد الانتظار',
    left: 'ألغى الاشتراك, ملغى الاشتراك, إلغاء الاشتراك',
  },
}

/** The plain words of a kind, in any language. */
export const toWords = (key: keyof Words): ReadonlySet<string> =>
  new Set(Object.values(LANGUAGES).flatMap((words) => toPlainNames(words[key])))

const [YES, NO] = [toWords('yes'), toWords('no')]

/** Meanings of words, in any language. */
export const WORDS: ReadonlyMap<string, Status> = new Map(
  STATUSES.flatMap((status) => [...toWords(status)].map((word) => [word, status] as const)),
)

/** Whether a plain word is a flag, in any language. */
export function findFlag(word: string): 'yes' | 'no' | undefined {
  return YES.has(word) ? 'yes' : NO.has(word) ? 'no' : undefined
}

/** A value as it is compared. A sign such as ✓ is a value too. */
export function toPlainValue(text: string): string {
  return toPlain(text) || text.trim()
}

const NO_WORD = /[^\p{L}\p{N}]+/u
const LEFT = toPattern(Object.values(LANGUAGES).flatMap(({ left }) => left.split(', ')))

/** Whether a cell says that somebody left: among other words, or as one of several words that each mean it alone. */
export function saysLeft(cell: string): boolean {
  if (LEFT.test(toBare(cell))) return true
  return cell.split(cell.startsWith('{') ? NO_WORD : /[,;|]/).some((word) => WORDS.get(toPlain(word)) === 'suppressed')
}

/** Matches any of the phrases. Chinese and Japanese have no spaces between words. */
function toPattern(phrases: readonly string[]): RegExp {
  const sources = phrases.map((phrase) => {
    const words = toBare(phrase).replace('*', '').split(' ').join('[^\\p{L}\\p{N}]*')
    if (/\p{Script=Han}/u.test(phrase)) return words
    return `(?<!\\p{L})${words}${phrase.endsWith('*') ? '' : '(?!\\p{L})'}`
  })
  return new RegExp(sources.join('|'), 'u')
}

/** Without case and accents. */
function toBare(text: string): string {
  const lower = text.toLowerCase()
  return /^[\0-\x7f]*$/.test(lower) ? lower : lower.normalize('NFKD').replace(/\p{M}/gu, '')
}
