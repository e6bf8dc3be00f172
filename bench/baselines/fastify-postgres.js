import Fastify from 'fastify'
import postgres from 'postgres'

const sql = postgres(process.env.DATABASE_URL, { onnotice: () => {} })
await sql`
  CREATE TABLE IF NOT EXISTS subscribers (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    email TEXT NOT NULL,
    identity TEXT NOT NULL UNIQUE,
    subscribed_at TIMESTAMPTZ NOT NULL DEFAULT now()
  )`

const schema = {
  body: {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', format: 'email', maxLength: 254 } },
  },
}

const app = Fastify()
app.post('/api/newsletter', { schema }, async (request) => {
  const { email } = request.body
  await sql`
    INSERT INTO subscribers (email, identity) VALUES (${email}, ${email.toLowerCase()}) ON CONFLICT DO NOTHING`
  return { ok: true }
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
