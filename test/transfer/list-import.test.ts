/** Importing a list into a store: what becomes of people who left. */

import { describe, expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { SubscriberStore } from '../../src/subscriber.ts'
import { type PlanOptions, planImport, writeImport } from '../../src/transfer/list-import.ts'
import { openSource, type SourceOptions } from '../../src/transfer/reading/source.ts'
import { createFolder } from '../support/service.ts'
import { emailsOf, listAll, listSuppressions, readStates, toAddresses } from '../support/store-suite.ts'

type Options = SourceOptions & Partial<Omit<PlanOptions, 'signal'>>

async function createStore(): Promise<SubscriberStore> {
  const folder = await createFolder()
  const store = openSqliteStore(join(folder, 'list.db'))
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  return store
}

/** Imports a list, and returns the tally with the number of rejected rows. */
async function run(store: SubscriberStore, content: string, options: Options = {}) {
  const { signal } = new AbortController()
  const chunks = {
    async *[Symbol.asyncIterator]() {
      yield Buffer.from(content)
    },
  }
  const source = await openSource({ name: 'list', size: content.length, isFile: true, chunks }, options)
  const plan = await planImport(source, { ...options, suppress: options.suppress ?? false, signal })
  let refused = 0
  const onRejected = async ({ length }: readonly unknown[]) => {
    refused += length
  }
  const tally = await writeImport(store, plan, { onRejected, onBatch() {}, signal })
  return { ...tally, refused, statuses: plan.statuses }
}

const emails = async (store: SubscriberStore) => emailsOf(await listAll(store)) as string[]

const toJson = (csv: string) => {
  const [header = [], ...rows] = csv
    .trim()
    .split('\n')
    .map((line) => line.split(','))
  return rows
    .map((row) => JSON.stringify(Object.fromEntries(header.map((name, index) => [name, row[index]]))))
    .join('\n')
}

const LIST =
  'email,status,created_at\na@site.io,active,2020-01-01\nb@site.io,unsubscribed,2020-01-01\nc@site.io,pending,2020-01-01\n'

describe.each([
  ['CSV', LIST],
  ['NDJSON', toJson(LIST)],
])('a list with statuses: %s', (_, list) => {
  test('adds subscribers, suppresses people who left, and skips the others', async () => {
    const store = await createStore()
    expect(await run(store, list)).toMatchObject({ added: 1, optedOut: 1, skipped: 1, refused: 0 })
    expect(await emails(store)).toEqual(['a@site.io'])
    expect(await readStates(store, toAddresses('b@site.io', 'c@site.io'))).toEqual(['suppressed', 'absent'])
  })

  test('an import does not bring back a person who left; a new subscription does', async () => {
    const store = await createStore()
    await run(store, list)
    expect(await run(store, 'email\nB@site.io\nc@site.io\n')).toMatchObject({ added: 1, suppressed: 1 })
    await store.add(toAddresses('b@site.io'))
    expect(await emails(store)).toEqual(['a@site.io', 'c@site.io', 'b@site.io'])
  })

  test('counts the rows of each status', async () => {
    expect((await run(await createStore(), list)).statuses).toEqual([
      { column: 'status', value: 'active', status: 'subscribed', rows: 1 },
      { column: 'status', value: 'unsubscribed', status: 'suppressed', rows: 1 },
      { column: 'status', value: 'pending', status: 'skip', rows: 1 },
    ])
  })

  test('stops at a value that is not known, before anything is written', async () => {
    const store = await createStore()
    const other = list.replace('pending', 'VIP reader')
    await expect(run(store, other)).rejects.toThrow(
      /^list: line [34]: "VIP reader" in the column "status" is not a known status; nothing was imported\./,
    )
    for (const text of [
      '--treat VALUE=subscribed',
      '--treat VALUE=suppressed',
      '--treat VALUE=skip',
      '--status-column NAME',
    ]) {
      await expect(run(store, other)).rejects.toThrow(text)
    }
    expect(await store.count()).toEqual({ subscribers: 0, reserved: 0, suppressed: 0 })
    expect(await run(store, other, { treat: new Map([['vip reader', 'subscribed']]) })).toMatchObject({ added: 2 })
  })

  test('may have another meaning', async () => {
    const store = await createStore()
    const treat = new Map([
      ['active', 'skip'],
      ['pending', 'suppressed'],
    ] as const)
    expect(await run(store, list, { treat })).toMatchObject({ added: 0, optedOut: 2, skipped: 1 })
  })

  test('may have its status in another column, or none', async () => {
    const store = await createStore()
    const other = list.replaceAll('status', 'Stand der Dinge').replaceAll('unsubscribed', 'ab')
    const options: Options = { statusColumn: 'Stand der Dinge', treat: new Map([['ab', 'suppressed']]) }
    expect(await run(store, other, options)).toMatchObject({ added: 1, optedOut: 1, skipped: 1 })
    expect(await run(await createStore(), list, { statusColumn: 'none' })).toMatchObject({ added: 3, statuses: [] })
    await expect(run(store, list, { statusColumn: 'state' })).rejects.toThrow(/"state"/)
  })

  test('may be a list of people who left', async () => {
    const store = await createStore()
    await store.add(toAddresses('a@site.io'))
    const tally = { added: 0, optedOut: 3, removed: 1, kept: 0, skipped: 0, statuses: [] }
    expect(await run(store, list.replace('pending', 'VIP'), { suppress: true })).toMatchObject(tally)
    expect(await store.count()).toMatchObject({ subscribers: 0, suppressed: 3 })
  })
})

describe('a person who is on the list', () => {
  test.each([
    ['leaves when the opt-out is newer', '2024-01-01', 'suppressed', { removed: 1, kept: 0 }],
    ['stays when the opt-out is older', '2020-01-01', 'subscribed', { removed: 0, kept: 1 }],
  ])('%s', async (_, date, state, tally) => {
    const store = await createStore()
    await run(store, 'email,created_at\na@site.io,2022-01-01\n')
    expect(await run(store, `email,UNSUB_TIME\na@site.io,${date}\n`)).toMatchObject(tally)
    expect(await readStates(store, toAddresses('a@site.io'))).toEqual([state as 'suppressed'])
  })

  test('stays when the date of the opt-out is unknown, unless the whole file is opt-outs', async () => {
    const store = await createStore()
    await store.add(toAddresses('a@site.io'))
    expect(await run(store, 'email,status\na@site.io,unsubscribed\n')).toMatchObject({
      optedOut: 1,
      removed: 0,
      kept: 1,
    })
    expect(await emails(store)).toEqual(['a@site.io'])
    expect(await run(store, 'a@site.io\n', { suppress: true })).toMatchObject({ optedOut: 1, removed: 1, kept: 0 })
    expect(await emails(store)).toEqual([])
  })

  test('leaves by the date in the column that is named', async () => {
    const store = await createStore()
    await run(store, 'email,created_at\na@site.io,2022-01-01\nb@site.io,2022-01-01\n')
    const list = 'email,left\na@site.io,1/2/2024\nb@site.io,13/2/2020\n'
    expect(await run(store, list, { suppress: true, dateColumn: 'left' })).toMatchObject({ removed: 1, kept: 1 })
    expect(await listSuppressions(store)).toMatchObject([{ suppressedAt: new Date('2024-02-01') }])
  })
})

test('a file of rejected rows says what each row was, also where its status is not known', async () => {
  const header = 'line,reason,treated_as,email,status,unsubscribed_at\n'
  const list = `${header}2,x,suppressed,a@site.io,VIP,2024-01-01\n3,x,subscribed,b@site.io,VIP,\n`
  const store = await createStore()
  expect(await run(store, list)).toMatchObject({ added: 1, optedOut: 1, skipped: 0 })
  expect(await emails(store)).toEqual(['b@site.io'])
  expect(await listSuppressions(store)).toMatchObject([{ suppressedAt: new Date('2024-01-01') }])
  await expect(run(store, `${header}2,x,,a@site.io,active,\n`)).rejects.toThrow('"" in the column "treated_as" is not')
})

test.each([
  ['first', 'email,status\na@site.io,unsubscribed\na@site.io,active\nb@site.io,active\n'],
  ['last', 'email,status\na@site.io,active\nb@site.io,active\na@site.io,unsubscribed\n'],
])('a person who has left in one row and not in another is not added: %s', async (_, list) => {
  const store = await createStore()
  expect(await run(store, list)).toMatchObject({ added: 1, optedOut: 1, suppressed: 1 })
  expect(await emails(store)).toEqual(['b@site.io'])
})

test.each([
  ['an opt-out in another column', 'email,status,unsubscribed_at\na@site.io,active,2024-01-01\n', { optedOut: 1 }],
  [
    'no status, when another column has an opt-out',
    'email,CLEAN_TIME,UNSUB_TIME\na@site.io,,2024-01-01\n',
    { optedOut: 1 },
  ],
  ['a date that may have two orders', 'email,UNSUB_TIME\na@site.io,1/2/2024\n', { optedOut: 1 }],
  ['a flag', 'email,unsubscribed\na@site.io,YES\nb@site.io,\n', { optedOut: 1, added: 1 }],
  [
    'a flag in a column that is a date elsewhere',
    'email,subscribed\na@site.io,yes\nb@site.io,no\n',
    { added: 1, optedOut: 1 },
  ],
  [
    'the same in NDJSON',
    '{"email":"a@site.io","subscribed":true}\n{"email":"b@site.io","subscribed":false}\n',
    { added: 1, optedOut: 1 },
  ],
  ['a status whose column has "email" in its name', 'Work email,email_disabled\na@site.io,false\n', { added: 1 }],
  [
    'a flag of NDJSON',
    '{"email":"a@site.io","emailBlacklisted":true}\n{"email":"b@site.io","emailBlacklisted":false}\n',
    { optedOut: 1, added: 1 },
  ],
  ['no status in NDJSON', '{"email":"a@site.io","status":"active"}\n{"email":"b@site.io"}\n', { added: 2 }],
  ['a state of a postal address', 'email,state,city\na@site.io,Texas,Austin\n', { added: 1 }],
  ['a kind of paid subscription', 'email,type\na@site.io,comp\n', { added: 1 }],
  ['a zero date', 'email,unsubscribed_at\na@site.io,0000-00-00 00:00:00\n', { added: 1 }],
  [
    'a row that ends before its status',
    'email,name,status\na@site.io,A,active\nb@site.io,B\n',
    { added: 1, refused: 1 },
  ],
])('%s', async (_, list, tally) => {
  expect(await run(await createStore(), list)).toMatchObject({
    added: 0,
    optedOut: 0,
    skipped: 0,
    refused: 0,
    ...tally,
  })
})

test.each([
  ['a Mailchimp file of people who left', 'email,UNSUB_TIME\na@site.io,\n', '"" in the column "UNSUB_TIME"'],
  [
    'several unknown values',
    'email,status\na@site.io,x\nb@site.io,y\nc@site.io,x\n',
    'line 2: "x" in the column "status" is not a known status (also line 3: "y" in the column "status");',
  ],
  ['a value of another type', '{"email":"a@site.io","status":{"is":1}}', '"{\\"is\\":1}" in the column'],
])('an unknown value is an error: %s', async (_, list, message) => {
  await expect(run(await createStore(), list)).rejects.toThrow(message)
})
