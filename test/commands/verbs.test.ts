/** The command line as a whole, and the verbs that ask, remove, copy and keep. */

import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { createCliFixture } from '../support/cli-fixture.ts'
import { startService } from '../support/service.ts'

const VERBS = ['serve', 'count', 'has', 'export', 'import', 'remove', 'copy', 'status', 'backup', 'openapi']

describe('the command line', () => {
  test('help names every verb, and each verb gives an example', async () => {
    const { print } = await createCliFixture()
    const help = await print(['--help'])
    for (const verb of VERBS) {
      expect(help).toContain(`  ${verb}`)
      expect(await print([verb, '--help'])).toContain(`rollcall ${verb}`)
    }
  })

  test('a slip of the finger: what was meant, and exit code 2', async () => {
    const { run } = await createCliFixture()
    expect(await run(['exprot'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Did you mean export?'),
    })
    expect(await run(['export', '--formt', 'csv'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean --format?'),
    })
    expect((await run([])).code).toBe(2)
  })

  test('a list that is not there is not made by asking', async () => {
    const { folder, run } = await createCliFixture()
    for (const args of [
      ['count'],
      ['has', 'a@b.io'],
      ['export'],
      ['status'],
      ['remove', 'a@b.io'],
      ['backup', 'b.db'],
    ]) {
      const { code, stdout, stderr } = await run([...args, '--list', 'sqlite:none/list.db'])
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toEndWith('none/list.db\n')
    }
    expect(await readdir(folder)).toEqual([])
  })

  test('a --list that is none: exit code 2, and no password on the screen', async () => {
    const { run } = await createCliFixture()
    const { code, stderr } = await run(['count', '--list', 'mysql://user:secret@host/db'])
    expect(code).toBe(2)
    expect(stderr).toStartWith('rollcall: --list is "mysql:')
    expect(stderr).not.toContain('secret')
  })

  test('openapi prints the description, as YAML and as JSON', async () => {
    const { print } = await createCliFixture()
    const yaml = parse(await print(['openapi']))
    expect(yaml.openapi).toBe('3.1.0')
    expect(JSON.parse(await print(['openapi', '--format', 'json']))).toEqual(yaml)
  })
})

test('count tells reserved and suppressed apart', async () => {
  const { print } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\nb@example.org\nc@site.io\n')
  await print(['remove', 'c@site.io'])
  expect(await print(['count'])).toBe('2\n')
  expect(JSON.parse(await print(['count', '--json']))).toEqual({ subscribers: 2, reserved: 1, suppressed: 1 })
})

test('has: since when, and by the exit code', async () => {
  const { print, run } = await createCliFixture()
  await print(['import', '-'], 'email,date\nAda@site.io,2020-01-02\ngone@site.io,2020-01-02\n')
  await print(['remove', 'gone@site.io'])
  expect(await run(['has', 'ADA@site.io'])).toEqual({
    code: 0,
    stdout: 'Ada@site.io is on the list since 2020-01-02T00:00:00.000Z\n',
    stderr: '',
  })
  expect(await run(['has', 'bob@site.io'])).toEqual({ code: 1, stdout: 'not on the list\n', stderr: '' })
  expect(await run(['has', 'gone@site.io', '--json'])).toEqual({
    code: 1,
    stdout: '{"state":"suppressed"}\n',
    stderr: '',
  })
  expect(await run(['has', 'nobody'])).toEqual({
    code: 2,
    stdout: '',
    stderr: 'rollcall: "nobody": the address is not valid\n',
  })
})

describe('remove', () => {
  test('says what happened to each; an import does not bring them back, a subscription does', async () => {
    const service = await startService()
    const { print: printHere } = await createCliFixture()
    const list = `sqlite:${service.folder}/data/rollcall.db`
    const print = (args: string[], stdin?: string) => printHere([...args, '--list', list], stdin)
    await service.subscribe('ada@site.io')
    await service.subscribe('bob@site.io')
    expect(await print(['remove', 'ADA@site.io', 'never@site.io'])).toBe(
      'ADA@site.io: taken off the list\nnever@site.io: was not on the list; no import will put it there\n',
    )
    expect(await print(['remove', 'ada@site.io'])).toBe('ada@site.io: had been suppressed\n')
    expect(await print(['import', '-'], 'ada@site.io\nnever@site.io\nbob@site.io\n')).toStartWith(
      '0 new, 1 known, 2 suppressed',
    )
    expect((await service.subscribe('Ada@site.io')).status).toBe(200)
    expect(await print(['export', '--format', 'txt'])).toBe('bob@site.io\nAda@site.io\n')
    expect(JSON.parse(await print(['count', '--json']))).toEqual({
      subscribers: 2,
      reserved: 0,
      suppressed: 1,
    })
    await service.stop()
  })

  test('--forget keeps nothing; --file takes many, and says which lines are no addresses', async () => {
    const { print, run, write } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\nb@site.io\nc@site.io\n')
    expect(await print(['remove', '--forget', 'a@site.io', '--json'])).toBe(
      '{"email":"a@site.io","was":"subscribed","suppressed":false}\n',
    )
    const file = await write('off.csv', 'name,Email\nB,b@site.io\nX,nobody\nC,c@site.io\n')
    expect(await run(['remove', '--file', file])).toEqual({
      code: 1,
      stdout: 'b@site.io: taken off the list\nc@site.io: taken off the list\n',
      stderr: 'off.csv: line 3: the address is not valid\n1 row could not be read as an address\n',
    })
    expect(JSON.parse(await print(['count', '--json']))).toEqual({
      subscribers: 0,
      reserved: 0,
      suppressed: 2,
    })
  })

  test('wrong usage removes nothing', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    expect((await run(['remove'])).code).toBe(2)
    expect((await run(['remove', 'a@site.io', '--file', 'x'])).code).toBe(2)
    expect((await run(['remove', 'a@site.io', 'nobody'])).code).toBe(2)
    expect(await print(['count'])).toBe('1\n')
  })
})

describe('status', () => {
  test('a chart of thirty days, in words and as JSON', async () => {
    const { list, print } = await createCliFixture()
    const today = new Date().toISOString().slice(0, 10)
    await print(
      ['import', '-'],
      `email,date\na@site.io,${today}\nb@example.org,${today}\nc@site.io,2020-01-01\n`,
    )
    const text = await print(['status'])
    expect(text).toContain(`list           ${list}, `)
    expect(text).toContain('addresses      3, 1 of them reserved')
    expect(text).toContain(`${today}  ${'█'.repeat(40)} 2\n`)
    expect(text.split('\n').filter((line) => /^\d{4}-/.test(line))).toHaveLength(30)
    const status = JSON.parse(await print(['status', '--json']))
    expect(status).toMatchObject({
      list,
      subscribers: 3,
      reserved: 1,
      suppressed: 0,
      writable: true,
      last_accepted_at: `${today}T00:00:00.000Z`,
    })
    expect(status.days).toHaveLength(30)
    expect(status.days.at(-1)).toEqual({ date: today, added: 2 })
  })

  test('--max-silence is for a cron line', async () => {
    const { print, run } = await createCliFixture()
    await print(['import', '-', '--json'], 'email,date\na@site.io,2020-01-01\n')
    expect(await run(['status', '--max-silence', '7d'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was accepted'),
    })
    await print(['import', '-'], 'b@site.io\n')
    expect(await run(['status', '--max-silence', '7d'])).toMatchObject({ code: 0, stderr: '' })
    expect((await run(['status', '--max-silence', 'long'])).code).toBe(2)
  })
})

describe('backup', () => {
  test('a whole list, of one moment, while the service writes', async () => {
    const service = await startService()
    const { folder, rows, run } = await createCliFixture()
    const list = `sqlite:${service.folder}/data/rollcall.db`
    let sent = 0
    let isDone = false
    const write = async () => {
      for (; !isDone; sent++) expect((await service.subscribe(`user.${sent}@site.io`)).status).toBe(200)
    }
    const writers = [write(), write(), write()]
    while (sent < 200) await Bun.sleep(1)
    const { code, stdout } = await run(['backup', 'copy.db', '--json', '--list', list])
    isDone = true
    await Promise.all(writers)
    expect(code).toBe(0)
    const { subscribers } = JSON.parse(stdout) as { subscribers: number }
    expect(subscribers).toBeGreaterThanOrEqual(200)
    const copy = await rows(`sqlite:${folder}/copy.db`)
    expect(copy).toHaveLength(subscribers)
    expect((await rows(list)).slice(0, subscribers)).toEqual([...copy])
    expect(await readdir(folder)).toEqual(['copy.db'])
    await service.stop()
  })

  test('what cannot be: onto itself, into nowhere, of PostgreSQL', async () => {
    const { folder, print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    expect(await run(['backup', 'list.db'])).toMatchObject({
      code: 2,
      stderr: 'rollcall: list.db is the list itself\n',
    })
    expect((await run(['backup', 'none/b.db'])).code).toBe(1)
    expect(await run(['backup', 'b.db', '--list', 'postgres://u:secret@127.0.0.1:1/db'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('pg_dump'),
    })
    expect(await print(['count'])).toBe('1\n')
    expect((await readdir(folder)).filter((name) => !name.startsWith('list.db'))).toEqual([])
  })
})

describe('copy', () => {
  test('order, spellings, dates and suppressions; again, and on from a cursor', async () => {
    const { folder, list, print, rows } = await createCliFixture()
    const copy = `sqlite:${folder}/copy/list.db`
    await print(
      ['import', '-'],
      'email,date\nZoe@site.io,2020-01-01T00:00:00.123Z\nada@site.io,2019-01-01\ntry@example.org,\nold@site.io,2018-01-01\n',
    )
    await print(['remove', 'old@site.io'])
    const once = ['copy', '--from', list, '--to', copy, '--json']
    expect(JSON.parse(await print(once))).toEqual({
      added: 3,
      known: 0,
      suppressed: 0,
      suppressions: 1,
      cursor: 3,
    })
    const plain = async (url: string) =>
      (await rows(url)).map(({ email, subscribed_at }) => ({ email, subscribed_at }))
    expect(await plain(copy)).toEqual(await plain(list))
    expect(JSON.parse(await print(once))).toMatchObject({ added: 0, known: 3, suppressions: 1 })
    expect(await print(['import', '-', '--list', copy], 'old@site.io\n')).toContain('1 suppressed')

    const further = [...once, '--cursor-file', 'c']
    expect(JSON.parse(await print(further))).toMatchObject({ added: 0, known: 3, cursor: 3 })
    await print(['import', '-'], 'new@site.io\n')
    await print(['remove', 'Zoe@site.io'])
    expect(JSON.parse(await print(further))).toMatchObject({ added: 1, known: 0, suppressions: 2 })
    expect(await plain(copy)).toEqual(await plain(list))
    expect(await readFile(join(folder, 'c'), 'utf8')).toMatch(/^\d+\n$/)
  })

  test('onto itself, or from nowhere', async () => {
    const { folder, list, print, run } = await createCliFixture()
    await print(['import', '-'], 'a@site.io\n')
    expect((await run(['copy', '--from', list, '--to', list])).code).toBe(2)
    expect((await run(['copy', '--from', 'sqlite:none.db', '--to', list])).code).toBe(1)
    expect(existsSync(join(folder, 'none.db'))).toBe(false)
    expect((await run(['copy', '--from', list])).code).toBe(2)
  })
})
