import express from 'express'
import { add } from './node-list.js'

const EMAIL = /^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$/

const app = express()
app.disable('x-powered-by')
app.use(express.json())
app.post('/api/newsletter', (request, response) => {
  const email = request.body?.email
  if (typeof email !== 'string' || email.length > 254 || !EMAIL.test(email)) {
    return response.status(400).json({ ok: false })
  }
  add(email)
  response.json({ ok: true })
})
app.listen(Number(process.env.PORT), '127.0.0.1')
