/** Synchronous replication: a commit whose wait for its standby was cancelled is not confirmed. */

import { afterEach, expect, test } from 'bun:test'
import { SQL } from 'bun'
import { RECHECK_MS } from '../../../src/store/postgres/replication.ts'
import { getServer, toDatabase, withStore } from '../../support/postgres.ts'
import { type RunningService, runCommand, startService } from '../../support/service.ts'
import { createAddresses, emailsOf, listAll, toAddresses } from '../../support/store-suite.ts'
import { until } from '../../support/wait.ts'

const server = await getServer()
const services: RunningService[] = []

afterEach(async () => {
  await setServer('synchronous_standby_names', '')
  await server.run('REVOKE pg_read_all_stats FROM owner', server.admin)
  for (const service of services.splice(0)) await service.stop()
})

/** Changes a setting of the server, and waits until new connections have it. */
async function setServer(name: string, value: string): Promise<void> {
  await server.run(`ALTER SYSTEM SET ${name} = '${value}'`, server.admin)
  await server.run('SELECT pg_reload_conf()', server.admin)
  await until(async () => {
    const [row] = await server.run<{ value: string }>(`SELECT current_setting('${name}') AS value`, server.admin)
    return row?.value === value
  }, `${name} is '${value}'`)
}

/** Creates a list whose commits wait for a standby that does not exist. */
async function createWaitingList({ isAllowed }: { isAllowed: boolean }): Promise<string> {
  const url = await server.createUrl()
  await withStore(url, async (store) => {
    await store.add(createAddresses(1))
    await store.count()
  })
  if (isAllowed) await server.run('GRANT pg_read_all_stats TO owner', server.admin)
  return url
}

/** Makes all commits wait for a standby that does not exist. */
async function requireStandby(names: string): Promise<void> {
  await setServer('synchronous_standby_names', names)
  // The server decides in another process, a little later, that commits wait.
  await until(async () => {
    const committing = server.run('CREATE TABLE probe (); DROP TABLE probe', server.admin)
    let isOver = false
    let isCancelled = false
    void committing.finally(() => {
      isOver = true
    })
    await until(async () => {
      isCancelled = await tryCancel(server.admin, 'CREATE')
      return isCancelled || isOver
    }, 'a commit waits or ends')
    await committing
    return isCancelled
  }, 'commits wait for the standby')
}

/** Cancels the next commit that waits for its standby. @param start what its statement begins with */
async function cancelWait(url: string, start = ''): Promise<void> {
  await until(() => tryCancel(url, start), 'a commit waits for its standby')
}

async function tryCancel(url: string, start: string): Promise<boolean> {
  const rows = await server.run(
    `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND datname = '${toDatabase(url)}' AND ltrim(query, E' \\n') LIKE '${start}%'`,
    server.admin,
  )
  return rows.length > 0
}

test('a request whose commit is cancelled gets 500, and the log says why', async () => {
  const url = await createWaitingList({ isAllowed: true })
  const service = await startService({ env: { DATABASE_URL: url } })
  services.push(service)
  expect((await service.subscribe('before@site.io')).status).toBe(200)
  await requireStandby('missing')
  // The service has just seen that there was no standby.
  await Bun.sleep(RECHECK_MS)
  const replying = service.subscribe('cancelled@site.io')
  // The service may compact meanwhile.
  await cancelWait(url, 'INSERT')
  expect((await replying).status).toBe(500)
  await service.logged('its synchronous standby has not confirmed the commit')
  await setServer('synchronous_standby_names', '')
  await until(async () => (await service.subscribe('after@site.io')).status === 200, 'the service recovers')
  expect(emailsOf(await withStore(url, listAll)).slice(1)).toEqual(
    toAddresses('before@site.io', 'cancelled@site.io', 'after@site.io'),
  )
})

test.each([
  ['import', ['import', '-']],
  ['remove', ['remove', 'ann@site.io']],
])('%s whose commit is cancelled fails', async (_, args) => {
  const url = await createWaitingList({ isAllowed: true })
  await requireStandby('FIRST 1 (missing)')
  const running = runCommand(args, { env: { DATABASE_URL: url }, stdin: 'ann@site.io\n' })
  await cancelWait(url)
  expect(await running).toMatchObject({ code: 1, stderr: expect.stringContaining('its synchronous standby has not') })
})

test('a user who may not see the standbys: doctor and status say what to grant', async () => {
  const url = await createWaitingList({ isAllowed: false })
  const advice = 'Rollcall cannot see whether standbys have a commit: GRANT pg_read_all_stats TO owner'
  const run = (...args: string[]) => runCommand(args, { env: { DATABASE_URL: url } })
  await setServer('synchronous_standby_names', 'missing')
  expect(await run('doctor')).toMatchObject({ code: 1, stdout: expect.stringContaining(advice) })
  expect(await run('status')).toMatchObject({ code: 0, stderr: `warning: ${advice}\n` })
})

test.each(['fsync', 'full_page_writes'])('%s is off: status and the start of the service warn', async (name) => {
  const url = await server.createUrl()
  await setServer(name, 'off')
  try {
    const warning = `a crash of the server loses confirmed addresses: turn on ${name}, and reload the server`
    const service = await startService({ env: { DATABASE_URL: url } })
    services.push(service)
    await service.logged(warning)
    const status = await runCommand(['status'], { env: { DATABASE_URL: url } })
    expect(status).toMatchObject({ code: 0, stderr: `warning: ${warning}\n` })
  } finally {
    await setServer(name, 'on')
    await server.run(`ALTER SYSTEM RESET ${name}`, server.admin)
  }
})

test('commits that wait for a missing standby do not take all connections of the server', async () => {
  const url = await createWaitingList({ isAllowed: true })
  await requireStandby('missing')
  const clients = Array.from({ length: 8 }, () => new SQL({ url, max: 1 }))
  const waiting = clients.map((sql) => sql`INSERT INTO rollcall.inbox (shard, size, addresses) VALUES (0, 0, '[]')`)
  const settled = Promise.allSettled(waiting)
  await until(async () => {
    const rows = await server.run(
      `SELECT FROM pg_stat_activity WHERE datname = '${toDatabase(url)}' AND wait_event = 'SyncRep'
         AND query_start < clock_timestamp() - interval '5 s'`,
      server.admin,
    )
    return rows.length === clients.length
  }, 'the commits have waited for more than 5 s')
  await expect(withStore(url, (store) => store.check())).rejects.toThrow('and 8 commits wait for it')
  await setServer('synchronous_standby_names', '')
  await settled
  await withStore(url, (store) => store.check())
  await Promise.all(clients.map((sql) => sql.close()))
})
