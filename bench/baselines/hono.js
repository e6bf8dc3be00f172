import { Hono } from 'hono'
import { add } from './bun-list.js'

const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/

const app = new Hono()
app.post('/api/newsletter', async (c) => {
  const { email } = await c.req.json()
  if (typeof email !== 'string' || email.length > 254 || !EMAIL.test(email)) return c.json({ ok: false }, 400)
  add(email)
  return c.json({ ok: true })
})
Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', development: false, fetch: app.fetch })
