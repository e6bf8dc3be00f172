import type { PostgresHost } from '../config/connection-parameters.ts'
import type { ListUrl } from '../config/list-url.ts'

/** Names a list for the owner, without the user and the password in its URL. */
export function toListName(list: ListUrl): string {
  if (list.kind === 'sqlite') return `sqlite:${list.file}`
  const { hosts, database } = list.parameters
  return `postgres://${hosts.map(toHostText).join(',')}/${database}`
}

/** Names a host, with its port unless that is the default one. */
export function toHostText({ host, port }: PostgresHost): string {
  const name = host.includes(':') ? `[${host}]` : host.replaceAll('/', '%2F')
  return port === 5432 ? name : `${name}:${port}`
}
