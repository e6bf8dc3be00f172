import type { SQLQueryBindings, Statement } from 'bun:sqlite'

/** Runs a query that always has one row. Throws when it has none. */
export function getRow<Row, Params extends SQLQueryBindings[]>(
  statement: Statement<Row, Params>,
  ...params: Params
): Row {
  const row = statement.get(...params)
  if (row === null) throw new Error(`no row: ${statement}`)
  return row
}
