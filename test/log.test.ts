/** The log: JSON lines about start, stop and failures, without email addresses. */

import { expect, test } from 'bun:test'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { redactAddresses, toLogged } from '../src/failure.ts'
import { DOCUMENTS } from './support/contract.ts'
import { SMALL_DISK, takeSpace } from './support/disk.ts'
import { exchange, POST_LINE, toRequest } from './support/raw.ts'
import { PRELOADED, startService } from './support/service.ts'
import { createFolder } from './support/workspace.ts'

test.concurrent('a run without failures logs three lines, for any number of requests', async () => {
  const service = await startService()
  for (let index = 0; index < 100; index++) {
    await service.subscribe(index % 2 ? `caller${index}@example.org` : 'not an address')
    await service.request(DOCUMENTS.openApiJson.path)
  }
  expect(await service.stop()).toBe(0)
  const lines = service
    .log()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, expect.stringContaining('a new, empty list was created')],
    [30, expect.stringContaining('listening on 127.0.0.1 port')],
    [30, 'stopping: the service answers every request that has begun'],
    [30, 'stopped'],
  ])
  expect(lines.map(({ time }) => new Date(time).toISOString())).toEqual(lines.map(({ time }) => time))
})

test.concurrent('LOG_LEVEL=trace logs no part of an address when requests and the store fail in many ways', async () => {
  const env = { ...PRELOADED, LOG_LEVEL: 'trace', OPS_PORT: '0' }
  const service = await startService({ launcher: SMALL_DISK, env })
  const address = 'secret.person@private.example'
  const json = ['Host: 127.0.0.1', 'Content-Type: application/json']
  const post = POST_LINE
  const requests = [
    toRequest(post, json, JSON.stringify({ email: address })),
    toRequest(post, json, JSON.stringify({ email: `Secret <${address}>` })),
    toRequest(post, json, JSON.stringify({ email: `${address}, ${address}` })),
    toRequest(post, json, JSON.stringify({ email: [address] })),
    toRequest(post, json, `{"email":"${address}"`),
    toRequest(post, json, `${address}\0`),
    toRequest(post, json, JSON.stringify({ email: address.padEnd(20_000, 'x') })),
    toRequest(post, ['Host: 127.0.0.1', `Content-Type: ${address}`], address),
    toRequest(`${post}?email=${address}`, json, '{}'),
    toRequest(`POST /${address}`, json, address),
    toRequest(`${address} /`, json),
    toRequest('GET /openapi.json', [`Host: ${address}`, `X-From: ${address}`, `If-None-Match: "${address}"`]),
    `${address}\r\n\r\n`,
  ]
  for (const request of requests) await exchange(service.port, request)
  takeSpace(service.process.pid)
  for (const request of requests) await exchange(service.port, request)
  expect((await service.subscribe(address)).status).toBe(500)
  service.process.kill('SIGUSR2')
  await service.logged('the writer thread has ended')
  for (const request of requests) await exchange(service.port, request)
  await service.stop()
  expect(service.log()).toContain('the store fails')
  expect(service.log()).not.toMatch(/@|secret|person|private/i)
})

test.concurrent('a defect outside of a request is logged with its place: a rejection is survived, an exception ends the service', async () => {
  const folder = await createFolder()
  const defect = "throw new TypeError('eve@site.io is wrong')"
  const source = `process.on('SIGUSR2', async () => { ${defect} }).on('SIGHUP', () => { ${defect} })`
  await writeFile(join(folder, 'defect.ts'), source)
  const service = await startService({ folder, env: { BUN_OPTIONS: `--preload ${join(folder, 'defect.ts')}` } })
  service.process.kill('SIGUSR2')
  await service.logged('an error of Rollcall itself')
  expect((await service.subscribe('ada@site.io')).status).toBe(200)
  expect(await service.stop('SIGHUP')).toBe(1)
  const errors = service
    .log()
    .split('\n')
    .filter((line) => /"level":[56]0/.test(line))
  expect(errors.map((line) => JSON.parse(line))).toEqual(
    [50, 60].map((level) =>
      expect.objectContaining({ level, err: expect.objectContaining({ stack: expect.stringContaining('defect.ts') }) }),
    ),
  )
  expect(service.log()).not.toContain('@')
})

test('redactAddresses hides addresses', () => {
  const cases = {
    'no address': 'no address',
    'ada@example.org': '[hidden]',
    'UNIQUE failed: (ada@example.org)': 'UNIQUE failed: ([hidden])',
    '{"email":"ada+news@example.org"}': '{"email":"[hidden]"}',
    'Ada <ada@example.org>, bob@example.org; eve@example.org': 'Ada <[hidden]>, [hidden]; [hidden]',
    "Key (email)=('o''neil@example.org') exists": 'Key (email)=([hidden]) exists',
    'postgres://user:password@db.example/list': '[hidden]',
    'cannot connect to postgres://u:p@w@host:5432/list now': 'cannot connect to [hidden] now',
    'a@b\nc@d': '[hidden]\n[hidden]',
    "{|o'neil}`@example.org": '[hidden]',
    '@': '[hidden]',
    'node_modules/@scope/package/index.js': '[hidden]',
  }
  for (const [text, expected] of Object.entries(cases)) expect(redactAddresses(text)).toBe(expected)
  // Quadratic time would be minutes here.
  const long = 'a'.repeat(2 ** 20)
  expect(redactAddresses(long)).toBe(long)
})

test('an error is logged with its type, code, message, stack and causes, without addresses', () => {
  const cause = Object.assign(new TypeError('ada@example.org is taken'), { code: 'for ada@example.org' })
  const logged = JSON.parse(JSON.stringify(toLogged(new Error('bob@example.org failed', { cause }))))
  expect(logged).toEqual({
    type: 'Error',
    message: '[hidden] failed',
    stack: expect.stringContaining('log.test.ts'),
    cause: {
      type: 'TypeError',
      code: 'for [hidden]',
      message: '[hidden] is taken',
      stack: expect.stringContaining('log.test.ts'),
    },
  })
  expect(JSON.stringify(logged)).not.toContain('@')
  expect(toLogged('eve@example.org')).toEqual({ message: '[hidden]' })
  expect(toLogged(undefined)).toEqual({ message: 'undefined' })
})
