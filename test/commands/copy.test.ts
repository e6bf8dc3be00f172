import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createCliFixture, toAddressAndDate } from '../support/cli-fixture.ts'
import { getServer } from '../support/postgres.ts'

test('a copy has the same order, spellings, dates and suppressions, and can be repeated', async () => {
  const { folder, list, print, rows } = await createCliFixture()
  const target = `sqlite:${folder}/copy/list.db`
  const read = async (url: string) => (await rows(url)).map(toAddressAndDate)
  await print(
    ['import', '-'],
    'email,date\nZoe@site.io,2020-01-01T00:00:00.123Z\nada@site.io,2019-01-01\ntry@example.org,\nold@site.io,2018-01-01\n',
  )
  await print(['remove', 'old@site.io'])
  const copy = ['copy', '--from', list, '--to', target]
  expect(JSON.parse(await print([...copy, '--json']))).toEqual({
    added: 3,
    known: 0,
    suppressed: 0,
    suppressions: 1,
  })
  expect(await read(target)).toEqual(await read(list))
  expect(await print(copy)).toBe('0 new, 3 known, 0 suppressed; 1 suppression copied\n')
  expect(await print(['import', '-', '--list', target], 'old@site.io\n')).toContain('1 suppressed')
})

test('a list cannot be copied to itself, and a missing list cannot be copied', async () => {
  const { folder, list, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  expect((await run(['copy', '--from', list, '--to', list])).code).toBe(2)
  expect((await run(['copy', '--from', list])).code).toBe(2)
  expect((await run(['copy', '--from', 'sqlite:none.db', '--to', list])).code).toBe(1)
  expect(existsSync(join(folder, 'none.db'))).toBe(false)
})

test('SQLite to PostgreSQL to SQLite: the same order, dates and suppressions', async () => {
  const { folder, list, print, rows } = await createCliFixture()
  const postgres = await (await getServer()).createUrl()
  const back = `sqlite:${folder}/back.db`
  const text = Array.from(
    { length: 3000 },
    (_, index) => `{"email":"User.${(index * 7919) % 3000}@site.io","date":${1.6e12 + index * 1001}}\n`,
  )
  await print(['import', '-'], text.join(''))
  await print(['remove', ...Array.from({ length: 20 }, (_, index) => `user.${index * 100}@SITE.io`)])

  for (const [from, to] of [
    [list, postgres],
    [postgres, back],
  ] as const) {
    const summary = JSON.parse(await print(['copy', '--from', from, '--to', to, '--json']))
    expect(summary).toMatchObject({ added: 2980, known: 0, suppressed: 0, suppressions: 20 })
    const again = JSON.parse(await print(['copy', '--from', from, '--to', to, '--json']))
    expect(again).toMatchObject({ added: 0, known: 2980, suppressed: 0, suppressions: 20 })
    expect((await rows(to)).map(toAddressAndDate)).toEqual((await rows(from)).map(toAddressAndDate))
    expect(JSON.parse(await print(['count', '--json', '--list', to]))).toMatchObject({
      subscribers: 2980,
      suppressed: 20,
    })
    expect(await print(['import', '-', '--list', to], 'user.0@site.io\n')).toStartWith('0 added, 0 known, 1 left out')
  }
})
