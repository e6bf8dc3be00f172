// The list of the baselines on Node, in the simplest way: one INSERT per request.
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const { FILE, SYNCHRONOUS } = process.env
const db = new DatabaseSync(FILE)
db.exec('PRAGMA journal_mode = WAL')
db.exec(`PRAGMA synchronous = ${SYNCHRONOUS}`)
db.exec(readFileSync(new URL('list.sql', import.meta.url), 'utf8'))
const insert = db.prepare(
  'INSERT INTO subscribers (email, identity, subscribed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)

export function add(email) {
  insert.run(email, email.toLowerCase(), Date.now())
}
