// The endpoint in two frameworks that people would choose instead, one for each runtime, as their documentation shows it.
// Arguments: a name, and `synchronous` of SQLite.
const PATH = '/api/newsletter'
const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/
const SCHEMA = {
  type: 'object',
  required: ['email'],
  properties: { email: { type: 'string', format: 'email', maxLength: 254 } },
}
const listener = { port: Number(process.env.PORT), hostname: '127.0.0.1' }

const isValid = (email) => typeof email === 'string' && email.length <= 254 && EMAIL.test(email)

const servers = {
  async fastify(add) {
    const { default: Fastify } = await import('fastify')
    const app = Fastify()
    app.post(PATH, { schema: { body: SCHEMA } }, async (request) => {
      await add(request.body.email)
      return { ok: true }
    })
    await app.listen({ port: listener.port, host: listener.hostname })
  },

  async hono(add) {
    const { Hono } = await import('hono')
    const app = new Hono()
    app.post(PATH, async (c) => {
      const { email } = await c.req.json()
      if (!isValid(email)) return c.json({ ok: false }, 400)
      add(email)
      return c.json({ ok: true })
    })
    Bun.serve({ ...listener, development: false, fetch: app.fetch })
  },
}

/** One INSERT for each request, in the simplest way. */
async function openSqlite(file) {
  const { DatabaseSync } = process.versions.bun ? {} : await import('node:sqlite')
  const { Database } = process.versions.bun ? await import('bun:sqlite') : { Database: DatabaseSync }
  const db = new Database(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${process.argv[3]}`)
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
  return (email) => insert.run(email, email.toLowerCase(), Date.now())
}

async function openPostgres(url) {
  const { default: postgres } = await import('postgres')
  const sql = postgres(url, { onnotice: () => {} })
  await sql`
    CREATE TABLE IF NOT EXISTS subscribers (
      id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      email TEXT NOT NULL,
      identity TEXT NOT NULL UNIQUE,
      subscribed_at TIMESTAMPTZ NOT NULL DEFAULT now()
    )`
  return (email) =>
    sql`INSERT INTO subscribers (email, identity) VALUES (${email}, ${email.toLowerCase()}) ON CONFLICT DO NOTHING`
}

const url = process.env.DATABASE_URL
await servers[process.argv[2]](url.startsWith('sqlite:') ? await openSqlite(url.slice(7)) : await openPostgres(url))
