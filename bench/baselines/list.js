// The list of the baselines, in the simplest way: one INSERT for each request. SYNCHRONOUS is FULL or NORMAL.
const { DatabaseSync } = process.versions.bun ? {} : await import('node:sqlite')
const { Database } = process.versions.bun ? await import('bun:sqlite') : { Database: DatabaseSync }

const db = new Database(process.env.DATABASE_URL.slice('sqlite:'.length))
db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${process.env.SYNCHRONOUS}`)
db.exec(`
  CREATE TABLE IF NOT EXISTS subscribers (
    id INTEGER PRIMARY KEY,
    email TEXT NOT NULL,
    identity TEXT NOT NULL UNIQUE,
    subscribed_at INTEGER NOT NULL
  )`)
const insert = db.prepare(
  'INSERT INTO subscribers (email, identity, subscribed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)

export function add(email) {
  insert.run(email, email.toLowerCase(), Date.now())
}
