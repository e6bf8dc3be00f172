/** What a distributed list promises while a transaction is committed on some nodes only, run by `npm run test:citus`. */

import { expect, onTestFinished, test } from 'bun:test'
import { SQL } from 'bun'
import { getServer, withStore } from '../support/postgres.ts'
import { createAddresses, emailsOf, listAll, toAddress, toAddresses } from '../support/store-suite.ts'
import { until } from '../support/wait.ts'

const server = await getServer()

function connect(url: string): SQL {
  const sql = new SQL({ url, max: 1 })
  onTestFinished(() => sql.close())
  return sql
}

/** Finds the only shard of a reference table on a worker. */
async function findShard(worker: SQL, table: string): Promise<string> {
  const [row] = await worker<{ name: string }[]>`
    SELECT shard_name::text AS name FROM citus_shards WHERE table_name = ${table}::regclass LIMIT 1`
  return row!.name
}

test('a change and an export wait until an earlier change is committed on every node', async () => {
  const url = await server.createUrl()
  const [, workerUrl = ''] = server.toWorkers(url)
  const worker = connect(workerUrl)
  const shard = await findShard(worker, 'rollcall.node_lock')
  // As after a failure of the coordinator between two commits. Citus leaves a transaction with this name alone.
  await worker.unsafe(`BEGIN; UPDATE ${shard} SET turn = turn + 1; PREPARE TRANSACTION 'earlier'`)
  await withStore(url, (importer) =>
    withStore(url, async (reader) => {
      await reader.add(toAddresses('ann@mail.io'))
      const done: string[] = []
      const work = Promise.all([
        importer.import([{ email: toAddress('bob@mail.io') }]).then(() => done.push('import')),
        listAll(reader).then(() => done.push('export')),
      ])
      await until(async () => (await countWaiting(worker)) > 0, 'a change waits on the worker')
      await Bun.sleep(500)
      expect(done).toEqual([])
      await worker.unsafe("COMMIT PREPARED 'earlier'")
      await work
      expect(emailsOf(await listAll(reader)).toSorted()).toEqual(toAddresses('ann@mail.io', 'bob@mail.io'))
    }),
  )
})

async function countWaiting(worker: SQL): Promise<number> {
  const [row] = await worker<{ count: number }[]>`
    SELECT count(*)::integer FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  return row?.count ?? 0
}

test('a change is one transaction on each node', async () => {
  const url = await server.createUrl()
  const addresses = createAddresses(3000)
  await withStore(url, async (store) => {
    await store.add(addresses)
    await store.remove(addresses.slice(0, 1000), { suppress: true })
  })
  for (const worker of server.toWorkers(url).map(connect)) {
    await worker`SET citus.override_table_visibility = off`
    // The removal compacts in a transaction of its own.
    for (const table of ['subscribers', 'suppressions']) expect(await countTransactions(worker, table)).toBe(1)
  }
})

/** Counts the transactions that wrote the rows of a table on a worker. */
async function countTransactions(worker: SQL, table: string): Promise<number> {
  const shards = await worker<{ name: string }[]>`
    SELECT relname AS name FROM pg_class WHERE relname ~ ${`^${table}_[0-9]+$`} AND relkind = 'r'`
  const rows = shards.map(({ name }) => `SELECT xmin::text FROM rollcall.${name}`).join(' UNION ALL ')
  const [row] = await worker.unsafe<{ count: number }[]>(`SELECT count(DISTINCT xmin)::integer FROM (${rows}) AS rows`)
  return row?.count ?? 0
}

test('an acceptance is on stable storage of its node, also where the default of the user is weaker', async () => {
  const url = await server.createUrl()
  const workers = server.toWorkers(url).map(connect)
  for (const worker of workers) await worker.unsafe(SEE)
  await withStore(url, async (store) => {
    for (const address of createAddresses(20)) await store.add([address])
  })
  const seen = await Promise.all(
    workers.map((worker) => worker<{ setting: string }[]>`SELECT setting FROM public.seen`),
  )
  expect(seen.flat().map(({ setting }) => setting)).toEqual(Array(20).fill('on'))
})

/** Makes the commits of new sessions on a worker weaker, and records with which setting a group is inserted there. */
const SEE = `
  SET citus.enable_ddl_propagation = off;
  SET citus.override_table_visibility = off;
  CREATE TABLE public.seen (setting text);
  GRANT ALL ON public.seen TO PUBLIC;
  CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO public.seen VALUES (current_setting('synchronous_commit'));
    RETURN NULL;
  END $$;
  DO $$ DECLARE shard regclass; BEGIN
    EXECUTE format('ALTER ROLE owner IN DATABASE %I SET synchronous_commit = off', current_database());
    FOR shard IN SELECT oid FROM pg_class WHERE relname ~ '^inbox_[0-9]+$' AND relkind = 'r' LOOP
      EXECUTE format('CREATE TRIGGER see AFTER INSERT ON %s EXECUTE FUNCTION public.see()', shard);
    END LOOP;
  END $$`
