import Fastify from 'fastify'
import { add } from './node-list.js'

const schema = {
  body: {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', format: 'email', maxLength: 254 } },
  },
}

const app = Fastify()
app.post('/api/newsletter', { schema }, (request) => {
  add(request.body.email)
  return { ok: true }
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
