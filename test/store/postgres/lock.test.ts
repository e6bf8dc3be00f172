/** The lock of a PostgreSQL list: every change but an acceptance takes it, and nobody can keep it by standing still. */

import { expect, onTestFinished, test } from 'bun:test'
import { SQL } from 'bun'
import type { Address } from '../../../src/email.ts'
import { createPostgresStore } from '../../../src/store/postgres/store.ts'
import { ROOT } from '../../support/paths.ts'
import { getServer, toParameters } from '../../support/postgres.ts'
import { listSuppressions } from '../../support/store-suite.ts'

const server = await getServer()
const ADA = 'ada@mail.io' as Address

async function openStore(url: string) {
  const store = createPostgresStore({ parameters: toParameters(url), name: 'list', hasDeadline: false })
  onTestFinished(() => store.close())
  await store.check()
  return store
}

/** Takes the lock of a list for longer than a change may wait for it: until the test ends, and for 10 s at most. */
async function holdLock(url: string): Promise<void> {
  const sql = new SQL({ url, max: 1, connection: { idle_in_transaction_session_timeout: 0 } })
  const { promise, resolve } = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const held = sql.begin(async (transaction) => {
    await transaction`SELECT FROM rollcall.list FOR UPDATE`
    locked.resolve()
    await promise
  })
  const timer = setTimeout(resolve, 10_000)
  onTestFinished(async () => {
    clearTimeout(timer)
    resolve()
    await held
    await sql.close()
  })
  await locked.promise
}

test('an acceptance does not wait for the lock; every other change does, and gives up with a reason', async () => {
  const [source, url] = await Promise.all([server.createUrl(), server.createUrl()])
  const [from, store, reader] = await Promise.all([openStore(source), openStore(url), openStore(url)])
  await from.remove([ADA], { suppress: true })
  const suppressions = await listSuppressions(from)
  await holdLock(url)
  // The inbox is empty, so each change meets the lock by itself.
  const changing = Promise.allSettled([
    store.import([{ email: ADA, subscribedAt: undefined }]),
    store.remove([ADA], { suppress: true }),
    store.mergeSuppressions(suppressions),
  ])
  await reader.add([ADA])
  const counting = Promise.allSettled([reader.count()])
  const changes = [...(await changing), ...(await counting)]
  const reason = 'the list list cannot be used: another process holds its lock (55P03)'
  expect(changes.map((change) => change.status === 'rejected' && String(change.reason))).toEqual(
    Array(4).fill(`StoreError: ${reason}`),
  )
})

/** Has another process take the lock as an import does, and stops it there. */
async function stopProcessWithLock(url: string): Promise<void> {
  const script = `
    import { createPool } from '${ROOT}/src/store/postgres/pool.ts'
    import { parseListUrl } from '${ROOT}/src/config/list-url.ts'
    const { parameters } = parseListUrl('URL', process.argv[1])
    const pool = createPool({ parameters, name: 'list', hasDeadline: false })
    await pool.runLocked(async () => {
      console.log('locked')
      await new Promise(() => {})
    })`
  const child = Bun.spawn([process.execPath, '-e', script, url], { stdout: 'pipe', stdin: 'pipe' })
  onTestFinished(() => child.kill('SIGKILL'))
  await child.stdout.getReader().read()
  child.kill('SIGSTOP')
}

test('a process that stands still in a transaction loses the lock', async () => {
  const url = await server.createUrl()
  const store = await openStore(url)
  await stopProcessWithLock(url)
  await store.add([ADA])
  // The first attempt may give up just before the other process loses the lock.
  const count = await store.count().catch(() => store.count())
  expect(count).toMatchObject({ subscribers: 1 })
})

test('no error has an address, also when an error of the server does', async () => {
  const url = await server.createUrl()
  const store = await openStore(url)
  await server.run(
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'the row % is refused', NEW;
     END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON rollcall.inbox FOR EACH ROW EXECUTE FUNCTION refuse();
     CREATE TRIGGER refuse BEFORE INSERT ON rollcall.subscribers FOR EACH ROW EXECUTE FUNCTION refuse();`,
    url,
  )
  const changes = await Promise.allSettled([store.add([ADA]), store.import([{ email: ADA, subscribedAt: undefined }])])
  for (const change of changes) {
    expect(change).toMatchObject({
      status: 'rejected',
      reason: { message: expect.not.stringContaining('@') },
    })
  }
})
