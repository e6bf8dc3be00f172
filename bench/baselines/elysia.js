import { Elysia, t } from 'elysia'
import { add } from './bun-list.js'

new Elysia()
  .post(
    '/api/newsletter',
    ({ body }) => {
      add(body.email)
      return { ok: true }
    },
    { body: t.Object({ email: t.String({ format: 'email', maxLength: 254 }) }) },
  )
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' })
