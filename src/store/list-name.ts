import type { ListUrl } from '../config/list-url.ts'

/** Names a list for the owner, without the user and the password in its URL. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { host, port, database } = list.server
  const name = host.includes(':') ? `[${host}]` : host.replaceAll('/', '%2F')
  return `postgres://${name}${port === 5432 ? '' : `:${port}`}/${database}`
}
