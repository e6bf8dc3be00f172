/** What only a PostgreSQL list has to keep: its schema, its session, its URL, and several processes on one database. */

import { expect, test } from 'bun:test'
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseListUrl } from '../../../src/config/list-url.ts'
import { openStore, toListName } from '../../../src/store/open.ts'
import type { Subscriber, SubscriberStore } from '../../../src/subscriber.ts'
import { toSupportFile } from '../../support/paths.ts'
import { getServer, PASSWORD } from '../../support/postgres.ts'
import { createFolder, runCommand, startService } from '../../support/service.ts'
import {
  createAddresses,
  emailsOf,
  expectAscending,
  listAll,
  listSuppressions,
} from '../../support/store-suite.ts'

const server = await getServer()

async function withStore<T>(url: string, work: (store: SubscriberStore) => Promise<T>): Promise<T> {
  const store = await openStore(parseListUrl('URL', url))
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

test('ten processes start at once on an empty database', async () => {
  const url = await server.createUrl()
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      runCommand(['import', '-'], { env: { DATABASE_URL: url }, stdin: `user${index}@mail.io\n` }),
    ),
  )
  expect(results.map(({ code }) => code)).toEqual(results.map(() => 0))
  expect(await withStore(url, listAll)).toHaveLength(10)
})

test('a command that only looks makes no list', async () => {
  const url = await server.createUrl()
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: url } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is no list in this database yet')])
  expect([...(await server.run("SELECT to_regnamespace('rollcall') AS name", url))]).toEqual([{ name: null }])
})

test('ten connections make the schema at once', async () => {
  const url = await server.createUrl()
  await Promise.all(Array.from({ length: 10 }, () => withStore(url, (store) => store.check())))
})

test('an exporter misses none and meets none twice while imports run beside the service', async () => {
  const url = await server.createUrl()
  const addresses = createAddresses(20_000)
  const seen: Subscriber[] = []
  let isOver = false
  await withStore(url, async (reader) => {
    const reading = (async () => {
      for (let isLast = false; !isLast; ) {
        isLast = isOver
        for await (const page of reader.list({ after: seen.at(-1)?.seq ?? 0 })) seen.push(...page)
      }
    })()
    const importing = [0, 1].map((half) =>
      withStore(url, async (store) => {
        for (let start = half * 7000; start < half * 7000 + 7000; start += 1000) {
          await store.import(addresses.slice(start, start + 1000).map((email) => ({ email })))
        }
      }),
    )
    const adding = withStore(url, async (store) => {
      for (let start = 14_000; start < 20_000; start += 20)
        await store.add(addresses.slice(start, start + 20))
    })
    await Promise.all([...importing, adding])
    isOver = true
    await reading
  })
  expectAscending(seen)
  expect(emailsOf(seen).toSorted()).toEqual(addresses.toSorted())
})

test('two services on one database take the same addresses: each is on the list once', async () => {
  const url = await server.createUrl()
  const services = await Promise.all([1, 2].map(() => startService({ env: { DATABASE_URL: url } })))
  const addresses = createAddresses(100)
  const replies = await Promise.all(
    addresses.flatMap((address) => services.map((service) => service.subscribe(address))),
  )
  for (const service of services) await service.stop()
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  const all = await withStore(url, listAll)
  expectAscending(all)
  expect(emailsOf(all).toSorted()).toEqual(addresses.toSorted())
})

test('a suppression through another process is cleared by a fresh subscription, whatever was known of it before', async () => {
  const url = await server.createUrl()
  const [ann = expect.unreachable(), bob = expect.unreachable()] = createAddresses(2)
  await withStore(url, async (service) => {
    await service.add([ann, bob])
    const [first, second] = await withStore(url, async (owner) => {
      await owner.remove([ann], { suppress: true })
      return [await listSuppressions(owner), await owner.count()]
    })
    expect([first.length, second.suppressed]).toEqual([1, 1])
    await service.add([ann])
    expect(await service.count()).toEqual({ subscribers: 2, reserved: 0, suppressed: 0 })
  })
})

test('copied from SQLite and back: the same list, order, dates and suppressions', async () => {
  const folder = await createFolder()
  const [from, back] = ['from', 'back'].map((name) => `sqlite:${join(folder, name)}.db`) as [string, string]
  const url = await server.createUrl()
  const addresses = createAddresses(3000)
  await withStore(from, async (store) => {
    await store.import(
      addresses.map((email, index) => ({ email, subscribedAt: new Date(index * 1e9 + index) })),
    )
    await store.remove(addresses.slice(0, 10), { suppress: true })
  })
  for (const args of [
    ['copy', '--from', from, '--to', url],
    ['copy', '--from', url, '--to', back],
  ])
    expect((await runCommand(args)).code).toBe(0)
  const [given, got] = await Promise.all([from, back].map((list) => withStore(list, readAll)))
  await rm(folder, { recursive: true })
  expect(got).toEqual(given!)
  expect([given!.subscribers.length, given!.suppressions.length]).toEqual([2990, 10])

  async function readAll(store: SubscriberStore) {
    const subscribers = (await listAll(store)).map(({ email, subscribedAt }) => [email, subscribedAt])
    const suppressions = (await listSuppressions(store)).map(({ key, hash, suppressedAt }) => [
      Buffer.from(key),
      Buffer.from(hash),
      suppressedAt,
    ])
    return { subscribers, suppressions }
  }
})

test('a commit waits for stable storage, even where the default of the database says otherwise', async () => {
  const url = await server.createUrl()
  await server.run(`ALTER ROLE owner IN DATABASE ${nameOf(url)} SET synchronous_commit = off`, url)
  await withStore(url, async (store) => {
    await store.check()
    await server.run(
      `CREATE TABLE seen (setting text);
       GRANT ALL ON seen TO PUBLIC;
       CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO seen VALUES (current_setting('synchronous_commit'));
         RETURN NULL;
       END $$;
       CREATE TRIGGER see AFTER INSERT ON rollcall.subscribers EXECUTE FUNCTION see();`,
      url,
    )
    await store.add(createAddresses(1))
  })
  expect([...(await server.run('SELECT setting FROM seen', url))]).toEqual([{ setting: 'on' }])
})

test('a schema of a newer Rollcall is left alone', async () => {
  const url = await server.createUrl()
  await withStore(url, (store) => store.check())
  await server.run('UPDATE rollcall.list SET version = 99', url)
  const { code, stderr } = await runCommand(['count'], { env: { DATABASE_URL: url } })
  expect([code, stderr]).toEqual([1, expect.stringContaining('its schema is version 99')])
})

test('a database whose owner has made the schema, for a user who may not', async () => {
  const url = await server.createUrl()
  await server.run(
    `ALTER DATABASE ${nameOf(url)} OWNER TO postgres; CREATE SCHEMA rollcall AUTHORIZATION owner`,
    url,
  )
  await withStore(url, (store) => store.check())
})

test('no error shows the password, and each says in one line what is wrong', async () => {
  const url = await server.createUrl()
  const cases = [
    [url.replace(/[0-9]+\/list/, '1/list'), 'the server cannot be reached'],
    [url.replace(PASSWORD, `${PASSWORD}no`), 'the server refuses the user or the password'],
    [`${url}_gone`, 'the server has no such database'],
    [`${url}?sslmode=require`, 'the server speaks no TLS'],
    [`${url}?sslmode=${PASSWORD}`, 'its URL cannot be understood'],
    [url.replace(PASSWORD, `${PASSWORD}%zz`), 'its URL cannot be understood'],
  ] as const
  const results = await Promise.all(
    cases.map(([DATABASE_URL]) => runCommand(['count'], { env: { DATABASE_URL } })),
  )
  for (const [index, { code, stdout, stderr }] of results.entries()) {
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^rollcall: the list postgres:\/\/[^\n]+\n$/)
    expect(stderr).toContain(cases[index]![1])
    expect(stderr).not.toContain(PASSWORD)
  }
})

test('a list is named without its user, its password and its options', () => {
  const list = parseListUrl(
    'URL',
    'postgres://ann:secret@db.example.org:5433/letters?sslmode=require&password=secret',
  )
  expect(toListName(list)).toBe('postgres://db.example.org:5433/letters')
})

test('TLS as the URL asks for it', async () => {
  const url = await server.createUrl()
  const certificate = toSupportFile('certificate/localhost.crt')
  const { uid, gid } = statSync(server.data)
  for (const end of ['crt', 'key']) {
    const copy = join(server.data, `server.${end}`)
    copyFileSync(toSupportFile(`certificate/localhost.${end}`), copy)
    chownSync(copy, uid, gid)
    // The server takes no key that others may read.
    chmodSync(copy, 0o600)
  }
  await server.run('ALTER SYSTEM SET ssl = on', server.admin)
  await server.run('SELECT pg_reload_conf()', server.admin)
  const named = url.replace('127.0.0.1', 'localhost')
  const trusting = `sslmode=verify-full&sslrootcert=${certificate}`
  while (!(await isEncrypted(`${named}?sslmode=prefer`))) await Bun.sleep(20)
  expect(await isEncrypted(url)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=disable`)).toBe(false)
  expect(await isEncrypted(`${named}?sslmode=require`)).toBe(true)
  expect(await isEncrypted(`${named}?${trusting}`)).toBe(true)
  for (const refused of [`${named}?sslmode=verify-full`, `${url}?${trusting}`]) {
    const checked = withStore(refused, (store) => store.check())
    await expect(checked).rejects.toThrow('the certificate of the server is not trusted')
  }

  function isEncrypted(listUrl: string): Promise<boolean> {
    return withStore(listUrl, async (store) => {
      await store.check()
      const rows = await server.run(
        `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) 
         WHERE application_name = 'rollcall' AND datname = '${nameOf(url)}'`,
        url,
      )
      return rows.every(({ ssl }) => ssl === true)
    })
  }
})

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}
