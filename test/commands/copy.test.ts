/** A list that moves between the two stores, and back. */

import { expect, test } from 'bun:test'
import { createCliFixture } from '../support/cli-fixture.ts'
import { getServer } from '../support/postgres.ts'

test('SQLite to PostgreSQL to SQLite: the same list, order, dates and suppressions', async () => {
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
    const [before, after] = [await rows(from), await rows(to)]
    const toPlain = ({ email, subscribed_at }: (typeof before)[number]) => `${email} ${subscribed_at}`
    expect(after.map(toPlain)).toEqual(before.map(toPlain))
    expect(JSON.parse(await print(['count', '--json', '--list', to]))).toMatchObject({
      subscribers: 2980,
      suppressed: 20,
    })
    expect(await print(['import', '-', '--list', to], 'user.0@site.io\n')).toStartWith(
      '0 new, 0 known, 1 suppressed',
    )
  }
})
