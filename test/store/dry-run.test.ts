/** A dry run counts like an import, and leaves every list as it is. */

import { expect, onTestFinished, test } from 'bun:test'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openDryRun } from '../../src/store/dry-run.ts'
import { openStore } from '../../src/store/open.ts'
import { MissingListError } from '../../src/subscriber.ts'
import { getServer } from '../support/postgres.ts'
import { createFolder } from '../support/service.ts'
import { toAddress, toAddresses } from '../support/store-suite.ts'

const KINDS = ['sqlite', 'postgres'] as const

async function createUrl(kind: (typeof KINDS)[number]) {
  if (kind === 'postgres') return parseListUrl('URL', await (await getServer()).createUrl())
  const folder = await createFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  return parseListUrl('URL', `sqlite:${join(folder, 'new', 'list.db')}`)
}

test.each(KINDS)('of a list that does not exist: %s', async (kind) => {
  const url = await createUrl(kind)
  const dryRun = await openDryRun(url)
  const rows = toAddresses('a@site.io', 'b@site.io', 'A@site.io').map((email) => ({ email }))
  expect(await dryRun.suppress(rows.slice(1, 2), { removeUndated: false })).toMatchObject({ added: 1 })
  expect(await dryRun.import(rows)).toEqual({ added: 1, known: 1, suppressed: 1 })
  await dryRun.close()
  await expect(openStore(url, { create: false }).then((store) => store.count())).rejects.toThrow(MissingListError)
  if (url.kind === 'sqlite') await expect(readdir(join(url.file, '..'))).rejects.toThrow('ENOENT')
})

test.each(KINDS)('of a list with subscribers and suppressions: %s', async (kind) => {
  const url = await createUrl(kind)
  const store = await openStore(url)
  const subscribedAt = new Date('2022-01-01')
  const [a, b, c] = toAddresses('a@site.io', 'b@site.io', 'c@site.io')
  await store.import([a!, b!].map((email) => ({ email, subscribedAt })))
  await store.suppress([{ email: c! }], { removeUndated: false })
  const optOuts = [
    { email: a!, optedOutAt: new Date('2024-01-01') },
    { email: b!, optedOutAt: new Date('2020-01-01') },
    { email: c! },
    { email: toAddress('d@site.io') },
  ]
  const rows = toAddresses('a@site.io', 'b@site.io', 'c@site.io', 'd@site.io', 'e@site.io').map((email) => ({ email }))

  const dryRun = await openDryRun(url)
  const before = await store.count()
  const optedOut = await dryRun.suppress(optOuts, { removeUndated: false })
  const imported = await dryRun.import(rows)
  await dryRun.close()
  expect(await store.count()).toEqual(before)
  expect(optedOut).toEqual({ added: 1, removed: 1, kept: 1, known: 1 })
  expect(imported).toEqual({ added: 1, known: 1, suppressed: 3 })

  expect(await store.suppress(optOuts, { removeUndated: false })).toEqual(optedOut)
  expect(await store.import(rows)).toEqual(imported)
  await store.close()
})
