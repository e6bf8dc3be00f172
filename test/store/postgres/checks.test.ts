/** What doctor reports about a PostgreSQL list, and what the service does when its commits are not durable. */

import { expect, onTestFinished, test } from 'bun:test'
import { parseListUrl } from '../../../src/config/list-url.ts'
import type { CheckResult, CursorCheck } from '../../../src/store/check.ts'
import { openStore } from '../../../src/store/open.ts'
import { checkPostgresList } from '../../../src/store/postgres/checks.ts'
import { getServer, PASSWORD, toDatabase, toServer, withStore } from '../../support/postgres.ts'
import { runCommand, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'
import { listAll, toAddress, toAddresses } from '../suite.ts'

const server = await getServer()

async function check(url: string): Promise<readonly CheckResult[]> {
  const results = await Array.fromAsync(checkPostgresList(toServer(url)))
  expect(JSON.stringify(results)).not.toContain(PASSWORD)
  return results
}

async function findWrong(url: string): Promise<Readonly<Record<string, string>>> {
  const wrong = (await check(url)).filter(({ ok }) => ok === false)
  return Object.fromEntries(wrong.map(({ check, message }) => [check, message]))
}

async function createList(): Promise<string> {
  const url = await server.createUrl()
  await withStore(url, (store) => store.add(toAddresses('ada@site.io', 'bob@site.io')))
  return url
}

test('a sound list: every check is ok, and nothing is changed', async () => {
  const results = await check(await createList())
  expect(results.map(({ check, ok, message }) => [check, ok, message])).toEqual([
    ['schema', true, 'version 1'],
    ['server', true, expect.stringMatching(/^PostgreSQL 1[5-8]/)],
    ['durability', true, 'the user may add addresses and lock the list, and commits are durable'],
    ['inbox', true, expect.stringMatching(/^waiting for compaction: 2, the oldest since 20/)],
    ['dates', true, 'there is no subscription'],
  ])
})

test('who waits after a cursor is counted, without reserved domains', async () => {
  const url = await createList()
  await withStore(url, (store) => store.add(toAddresses('x@example.org', 'cyd@site.io')))
  const seqs = await withStore(url, async (store) => (await listAll(store)).map(({ seq }) => seq))
  const readAfter = async (after: number) => {
    const cursor: CursorCheck = async (_head, readWaiting) => JSON.stringify(await readWaiting(after))
    const results = await Array.fromAsync(checkPostgresList(toServer(url), [cursor]))
    return JSON.parse(results.find(({ check }) => check === 'cursor')?.message ?? '')
  }
  expect(await readAfter(seqs[0]!)).toEqual({ count: 2, first: seqs[1] })
  expect(await readAfter(seqs[3]!)).toEqual({ count: 0, first: null })
})

test('without a server or a list: the reason, and nothing is created', async () => {
  expect(await findWrong(`postgres://u:${PASSWORD}@127.0.0.1:1/db`)).toEqual({
    schema: expect.stringContaining('the server cannot be reached'),
  })
  const url = await server.createUrl()
  expect(await findWrong(url)).toEqual({ schema: expect.stringContaining('there is no list in this database') })
  expect(await server.run(`SELECT FROM pg_namespace WHERE nspname = 'rollcall'`, url)).toEqual([])
})

test.each(['SELECT', 'INSERT'])('doctor finds that the user lacks %s on the inbox', async (privilege) => {
  const url = await createList()
  await server.run(`REVOKE ${privilege} ON rollcall.inbox FROM owner`, url)
  const wrong = await findWrong(url)
  expect(wrong.durability).toBe('the user may not add to the list: GRANT SELECT, INSERT ON rollcall.inbox')
})

/** Changes a setting of the server until the returned function is called. */
async function set(name: string, url: string, value: string, initial: string): Promise<() => Promise<void>> {
  const reload = async (change: string, value: string) => {
    await server.run(change, url)
    await server.run('SELECT pg_reload_conf()', url)
    const read = () => server.run<{ value: string }>(`SELECT current_setting('${name}') AS value`, url)
    await until(async () => (await read())[0]?.value === value, `${name} is ${value}`)
  }
  await reload(`ALTER SYSTEM SET ${name} = ${value}`, value)
  return () => reload(`ALTER SYSTEM RESET ${name}`, initial)
}

test.each(['fsync', 'full_page_writes'])('doctor finds that %s is off', async (name) => {
  const url = await createList()
  const reset = await set(name, url, 'off', 'on')
  const wrong = await findWrong(url)
  await reset()
  expect(wrong).toEqual({ durability: expect.stringMatching(new RegExp(`turn on .*${name}`)) })
})

test('nothing is accepted or changed while commits are not durable: 500, 503, and a log line that says what to set', async () => {
  const url = await createList()
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  const isReady = async () => (await service.ops('/readyz')).status
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  await until(async () => (await isReady()) === 200, 'the service is ready')
  /** Sets the role, until a request has this status. A connection that was starting meanwhile keeps the earlier setting. */
  const setRole = async (change: string, status: number) => {
    await server.run(`ALTER ROLE owner IN DATABASE ${toDatabase(url)} ${change}`, url)
    let tries = 0
    await until(async () => {
      if (tries++ % 10 === 0) await server.disconnect(url)
      return (await service.subscribe('cyd@site.io')).status === status
    }, `${change}: ${status}`)
  }
  await setRole('SET synchronous_commit = off', 500)
  expect((await service.subscribe('lost@site.io')).status).toBe(500)
  expect(await isReady()).toBe(503)
  await service.logged('its commits are not durable: turn on synchronous_commit and fsync (23514)')
  for (const change of ['import', 'remove'] as const) {
    await withStore(url, async (store) => {
      const [ann] = toAddresses('ann@site.io')
      const changing = change === 'import' ? store.import([{ email: ann! }]) : store.remove([ann!], { suppress: true })
      await expect(changing).rejects.toThrow('its commits are not durable')
    })
  }
  await setRole('RESET synchronous_commit', 200)
  expect((await service.subscribe('dan@site.io')).status).toBe(200)
  await service.stop()
  const count = await withStore(url, (store) => store.count())
  expect(count).toMatchObject({ subscribers: 4, suppressed: 0 })
})

test('while a synchronous standby is missing: 500 with the reason, no command waits, and few connections are kept', async () => {
  const url = await createList()
  const service = await startService({ env: { DATABASE_URL: url, OPS_PORT: '0' } })
  onTestFinished(() => service.stop())
  expect((await service.subscribe('cyd@site.io')).status).toBe(200)
  const reset = await set('synchronous_standby_names', url, 'missing', '')
  onTestFinished(reset)
  expect(await findWrong(url)).toEqual({ durability: expect.stringContaining('waits for a synchronous standby') })
  for (const name of ['dan', 'eve', 'fay', 'gil']) {
    expect((await service.subscribe(`${name}@site.io`)).status).toBe(500)
  }
  await service.logged('it waits for a synchronous standby')
  // That of the first address, and one of compaction.
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = '${toDatabase(url)}' AND wait_event = 'SyncRep'`
  expect((await server.run(waiting, server.admin)).length).toBeWithin(1, 3)
  await server.run(
    `SET synchronous_commit = local; INSERT INTO rollcall.inbox VALUES (gen_random_uuid(), now(), 1, 'hal@site.io')`,
    url,
  )
  const notes: string[] = []
  const store = await openStore(parseListUrl('URL', url), { access: 'create', notify: (text) => notes.push(text) })
  for (const call of [
    () => store.ready(),
    () => store.import([{ email: toAddress('fay@site.io') }]),
    () => store.remove(toAddresses('ada@site.io'), { suppress: true }),
  ])
    await expect(call()).rejects.toThrow('waits for a synchronous standby')
  expect((await store.status()).bytes).toBeGreaterThan(0)
  expect(notes).toEqual([
    expect.stringMatching(/^the addresses in the inbox are not included: it waits for a synchronous standby/),
  ])
  await store.close()
  await reset()
  await until(async () => (await service.subscribe('gus@site.io')).status === 200, 'the service accepts an address')
  await until(async () => (await server.run(waiting, server.admin)).length === 0, 'no connection waits')
  expect(await findWrong(url)).toEqual({})
})

test('an inbox whose oldest address waits for minutes is wrong, and a command says why nobody compacts', async () => {
  const url = await createList()
  const age = (minutes: number) =>
    server.run(`UPDATE rollcall.inbox SET accepted_at = now() - interval '${minutes} minutes'`, url)
  await age(4)
  expect(await findWrong(url)).toEqual({})
  await age(6)
  const waiting = 'waiting for compaction: 2, the oldest since [^,]*'
  const wrong = new RegExp(
    `^${waiting}: start the service, or run "rollcall count": it compacts, or says why it cannot$`,
  )
  expect(await findWrong(url)).toEqual({ inbox: expect.stringMatching(wrong) })

  await server.run('REVOKE INSERT ON rollcall.subscribers FROM owner', url)
  expect(await findWrong(url)).toEqual({ inbox: expect.stringMatching(wrong) })
  await expect(withStore(url, (store) => store.count())).rejects.toThrow('permission denied for table subscribers')
  // Nothing has changed.
  expect(await server.run('SELECT FROM rollcall.inbox', url)).toHaveLength(1)
})

test('a subscriber of the future is wrong: for doctor, and for status, whose silence it would end', async () => {
  const url = await createList()
  await withStore(url, (store) => store.count())
  const setDate = (date: string) =>
    server.run(`UPDATE rollcall.subscribers SET subscribed_at = ${date} WHERE email ~ 'ada'`, url)
  await setDate(`'2999-01-01T12:00:00Z'`)
  const says = 'the latest subscription is of 2999-01-01T12:00:00.000Z, in the future: set the clock'
  expect(await findWrong(url)).toEqual({ dates: expect.stringContaining(says) })
  for (const args of [['status'], ['status', '--max-silence', '7d']]) {
    const { code, stderr } = await runCommand(args, { env: { DATABASE_URL: url } })
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining(says)])
  }
  // Clocks differ a little.
  await setDate(`now() + interval '30 seconds'`)
  expect(await findWrong(url)).toEqual({})
  const { code } = await runCommand(['status', '--max-silence', '7d'], { env: { DATABASE_URL: url } })
  expect(code).toBe(0)
})

test('a full disk: doctor tries a write, and takes it back', async () => {
  const url = await createList()
  await server.run(
    `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100';
     END $$;
     CREATE TRIGGER full_disk BEFORE INSERT ON rollcall.inbox FOR EACH ROW EXECUTE FUNCTION fill();`,
    url,
  )
  expect(await findWrong(url)).toEqual({ durability: expect.stringContaining('the disk is full (53100)') })
  await server.run('DROP TRIGGER full_disk ON rollcall.inbox', url)
  expect(await findWrong(url)).toEqual({})
  expect(await server.run('SELECT FROM rollcall.inbox', url)).toHaveLength(1)
})

test('doctor keeps the lock of the list for seconds at most, also when it stands still', async () => {
  const url = await createList()
  await server.run(
    `CREATE FUNCTION limited() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF current_setting('idle_in_transaction_session_timeout') <> '3s' THEN RAISE EXCEPTION 'no limit'; END IF;
       RETURN NULL;
     END $$;
     CREATE TRIGGER limited BEFORE UPDATE ON rollcall.list EXECUTE FUNCTION limited()`,
    url,
  )
  expect(await findWrong(url)).toEqual({})
})

test('doctor tries what compaction does: a publication without a primary key', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.count())
  await server.run(
    'ALTER TABLE rollcall.list DROP CONSTRAINT list_pkey; CREATE PUBLICATION everything FOR ALL TABLES',
    url,
  )
  const { code, stdout } = await runCommand(['doctor', '--list', url])
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^durability +wrong: .*a publication needs a primary key/m)])
})
