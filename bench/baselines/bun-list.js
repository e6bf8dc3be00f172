// The list of the baselines on Bun, in the simplest way: one INSERT per request.
import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'

const { FILE, SYNCHRONOUS } = process.env
const db = new Database(FILE, { create: true })
db.run('PRAGMA journal_mode = WAL')
db.run(`PRAGMA synchronous = ${SYNCHRONOUS}`)
db.run(readFileSync(new URL('list.sql', import.meta.url), 'utf8'))
const insert = db.query(
  'INSERT INTO subscribers (email, identity, subscribed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)

export function add(email) {
  insert.run(email, email.toLowerCase(), Date.now())
}
