/** Words in status columns, in the languages of the page. Data only. */

import { toPlainNames } from './names.ts'

/** What an import does with a row: add the address, leave the row out, or suppress the address. The strictest is last. */
export const STATUSES = ['subscribed', 'skip', 'suppressed'] as const
export type Status = (typeof STATUSES)[number]

interface Words extends Readonly<Record<Status, string>> {
  readonly yes: string
  readonly no: string
}

const LANGUAGES: Readonly<Record<string, Words>> = {
  en: {
    yes: 'yes, y, true, t, 1, on',
    no: 'no, n, false, f, 0, off',
    subscribed: 'active, subscribed, confirmed, enabled, opted in',
    suppressed:
      'unsubscribed, opted out, bounced, hard bounced, bouncing, cleaned, complained, complaint, spam, blocked, banned, ' +
      'blocklisted, blacklisted, suppressed, deleted, removed, undeliverable',
    skip:
      'pending, unconfirmed, not confirmed, inactive, disabled, cancelled, canceled, archived, not subscribed, ' +
      'non-subscribed, never subscribed, soft bounced',
  },
  de: {
    yes: 'ja, j, wahr',
    no: 'nein, falsch',
    subscribed: 'aktiv, abonniert, angemeldet, bestätigt, eingetragen, Abonnent',
    suppressed: 'abgemeldet, abbestellt, ausgetragen, gesperrt, blockiert, unzustellbar, gelöscht, widerrufen',
    skip: 'inaktiv, ausstehend, unbestätigt, nicht bestätigt, wartend, gekündigt',
  },
  fr: {
    yes: 'oui, o, vrai',
    no: 'non, faux',
    subscribed: 'actif, abonné, abonnée, inscrit, inscrite, confirmé, confirmée',
    suppressed: 'désabonné, désabonnée, désinscrit, désinscrite, bloqué, bloquée, supprimé, supprimée, rejeté, plainte',
    skip: 'inactif, en attente, non confirmé, non confirmée, non inscrit, annulé',
  },
  es: {
    yes: 'sí, verdadero',
    no: 'falso',
    subscribed: 'activo, activa, suscrito, suscrita, confirmado, confirmada, alta',
    suppressed: 'baja, dado de baja, dada de baja, desuscrito, desuscrita, bloqueado, rebotado, eliminado, queja',
    skip: 'inactivo, inactiva, pendiente, sin confirmar, no confirmado, no suscrito, cancelado',
  },
  it: {
    yes: 'sì, vero',
    no: 'falso',
    subscribed: 'attivo, attiva, iscritto, iscritta, confermato, confermata',
    suppressed: 'disiscritto, disiscritta, cancellato, cancellata, bloccato, rimbalzato, eliminato, rimosso',
    skip: 'inattivo, inattiva, in attesa, non confermato, non iscritto, annullato',
  },
  nl: {
    yes: 'ja, waar',
    no: 'nee, onwaar',
    subscribed: 'actief, ingeschreven, aangemeld, bevestigd, geabonneerd',
    suppressed: 'uitgeschreven, afgemeld, geblokkeerd, verwijderd, onbestelbaar, klacht',
    skip: 'inactief, in afwachting, onbevestigd, niet bevestigd, geannuleerd',
  },
  pl: {
    yes: 'tak, prawda',
    no: 'nie, fałsz',
    subscribed: 'aktywny, aktywna, zapisany, zapisana, subskrybuje, potwierdzony',
    suppressed: 'wypisany, wypisana, zrezygnował, zrezygnowała, zablokowany, odbity, usunięty, usunięta',
    skip: 'nieaktywny, nieaktywna, oczekujący, niepotwierdzony, anulowany',
  },
  'pt-BR': {
    yes: 'sim, s, verdadeiro',
    no: 'não, falso',
    subscribed: 'ativo, ativa, inscrito, inscrita, assinante, confirmado',
    suppressed: 'descadastrado, descadastrada, desinscrito, desinscrita, bloqueado, rejeitado, removido, excluído',
    skip: 'inativo, inativa, pendente, não confirmado, não inscrito, cancelado',
  },
  uk: {
    yes: 'так',
    no: 'ні',
    subscribed: 'активний, активна, підписаний, підписана, підтверджений',
    suppressed: 'відписаний, відписана, відписався, відписалась, відписалася, заблокований, видалений, скарга',
    skip: 'неактивний, очікує, непідтверджений, не підтверджений, скасований',
  },
  ja: {
    yes: 'はい, 有',
    no: 'いいえ, 無',
    subscribed: '有効, 登録済み, 登録, 購読中, 配信中',
    suppressed: '解除, 解除済み, 登録解除, 購読解除, 配信停止, 停止, 退会, 退会済み, 削除, ブロック',
    skip: '無効, 保留, 未確認, 仮登録, 未登録',
  },
  'zh-Hans': {
    yes: '是',
    no: '否',
    subscribed: '活跃, 订阅, 已订阅, 已确认, 有效',
    suppressed: '退订, 已退订, 取消订阅, 已取消订阅, 退信, 已屏蔽, 已删除, 投诉',
    skip: '待确认, 未确认, 未订阅, 未激活, 无效',
  },
  ar: {
    yes: 'نعم',
    no: 'لا',
    subscribed: 'نشط, مشترك, مؤكد',
    suppressed: 'ألغى الاشتراك, ملغى الاشتراك, غير مشترك, محظور, محذوف, مرتد',
    skip: 'غير نشط, معلق, غير مؤكد, قيد الانتظار',
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
