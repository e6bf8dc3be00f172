import type { SQLQueryBindings, Statement } from 'bun:sqlite'
import type { Subscriber } from '../../subscriber.ts'

/** A row of the table `subscribers`. The date is in milliseconds since 1970. */
export type SubscriberRow = Omit<Subscriber, 'subscribedAt'> & { readonly subscribedAt: number }

export function toSubscriber({ seq, email, subscribedAt }: SubscriberRow): Subscriber {
  return { seq, email, subscribedAt: new Date(subscribedAt) }
}

/** Runs a query that always has one row. Throws when it has none. */
export function getRow<Row, Params extends SQLQueryBindings[]>(
  statement: Statement<Row, Params>,
  ...params: Params
): Row {
  const row = statement.get(...params)
  if (row === null) throw new Error(`no row: ${statement}`)
  return row
}
