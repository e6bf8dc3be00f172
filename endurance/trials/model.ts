/** Random operations of services and commands at once, kills at random moments, and a model that knows what must be there. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFollower, type Follower } from '../model/follower.ts'
import { createLedger, type Ledger } from '../model/ledger.ts'
import { createTarget, type Target } from '../model/target.ts'
import { createWorld, type World } from '../model/world.ts'
import type { Random } from '../random.ts'
import { type Row, readList } from '../rollcall.ts'
import { check, type StoreKind, type Trial, waitFor } from '../trial.ts'

/** Kills and addresses of a round. Nothing runs between two rounds, so that the list can be compared. */
const KILLS = 5
const ADDRESSES = 45_000
const ROUND_MS = 40_000

/** Commands at once. */
const ACTORS = 2

/** The longest list that is read back in each round; a longer one in every fourth. */
const SHORT_LIST = 150_000

interface Parts {
  readonly store: StoreKind
  readonly random: Random
  readonly world: World
  readonly ledger: Ledger
  readonly follower: Follower
  readonly target: Target
}

export const model: Trial = {
  name: 'model',
  promise:
    'random operations at once, 100 kills, 1 million addresses: none lost, none twice; dates, spellings, suppressions and cursors exact',
  stores: ['sqlite', 'postgres'],
  minutes: 15,
  async run({ store, folder, random, amount, createList, progress }) {
    const ledger = createLedger(random.fork('addresses'))
    const world = createWorld({ list: await createList(), folder, random: random.fork('world'), ledger })
    const parts = {
      store,
      random,
      world,
      ledger,
      follower: createFollower(world),
      target: createTarget(world, await createList()),
    }
    const kills = amount(100, 5)
    const addresses = amount(1_000_000, 20_000)
    let rounds = 0
    for (; world.figures.kills < kills || ledger.entries.size < addresses; rounds++) {
      await runRound(parts, Math.min(ADDRESSES, addresses))
      const isShort = ledger.entries.size < SHORT_LIST
      await compare(parts, isShort || rounds % 4 === 3)
      const { kills: done } = world.figures
      progress(
        `round ${rounds + 1}: ${done} kills, ${ledger.entries.size} addresses, ${ledger.count('subscribed')} listed`,
      )
    }
    await compare(parts, true)
    await importAgain(parts)
    const { figures } = world
    return {
      rounds,
      kills: figures.kills,
      'kills of a service': figures.killedServices,
      'addresses used': ledger.entries.size,
      'addresses on the list at the end': ledger.count('subscribed'),
      'addresses suppressed at the end': ledger.count('suppressed'),
      requests: figures.requests,
      'requests without a 200': figures.failed,
      'acknowledged requests and rows': figures.acknowledged,
      removals: figures.removed,
      commands: figures.verbs,
      'rows read by cursor': parts.follower.count(),
    }
  },
}

async function runRound(parts: Parts, addresses: number): Promise<void> {
  const { random, world, ledger } = parts
  const start = { at: performance.now(), kills: world.figures.kills, addresses: ledger.entries.size }
  const isDone = () =>
    performance.now() - start.at > ROUND_MS ||
    (world.figures.kills >= start.kills + KILLS && ledger.entries.size >= start.addresses + addresses)
  await world.begin(random.between(1, 3))
  let hasBackup = false

  async function act(): Promise<void> {
    while (!isDone()) {
      const verb = random.pick(VERBS)
      if (verb === 'import') await world.importSome()
      else if (verb === 'remove') await world.removeSome(true, world.chooseSome(100))
      else if (verb === 'forget') await world.removeSome(false, world.chooseSome(50))
      else if (verb === 'count') await world.run(['count'])
      else if (verb === 'copy') await parts.target.copy()
      else if (verb === 'backup' && parts.store === 'sqlite' && !hasBackup) {
        hasBackup = true
        await backUp(parts)
      }
    }
  }

  async function follow(): Promise<void> {
    while (!isDone()) {
      await parts.follower.read()
      await Bun.sleep(random.between(100, 1_000))
    }
  }

  async function killSome(): Promise<void> {
    while (!isDone()) {
      await Bun.sleep(random.between(100, 1_500))
      if (world.figures.kills < start.kills + KILLS) await world.kill()
    }
  }

  await Promise.all([follow(), killSome(), ...Array.from({ length: ACTORS }, act)])
  await world.end()
}

const VERBS = ['import', 'import', 'import', 'remove', 'remove', 'forget', 'count', 'copy', 'backup'] as const

/** Backs the list up under load; what was confirmed before is in the copy. */
async function backUp({ world, ledger }: Parts): Promise<void> {
  const file = join(world.folder, 'backup.db')
  const start = performance.now()
  const output = await world.run(['backup', file])
  const end = performance.now()
  if (output === undefined || ledger.entries.size > SHORT_LIST) return
  const rows = await readList(`sqlite:${file}`, world.options)
  ledger.checkSnapshot('a backup', rows, start, end)
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
}

/** Nothing runs: the list, the reader by cursor and the copy must be what the model says. */
async function compare({ store, world, ledger, follower, target }: Parts, isFull: boolean): Promise<void> {
  if (store === 'postgres') await waitForServer(world.list)
  const rows = await readList(world.list, world.options)
  const unclear = ledger.settle(rows)
  if (unclear.length > 0) {
    await world.removeSome(true, unclear)
    for (const identity of unclear) ledger.settleUnclear(identity)
  }
  await checkCount(world, ledger, rows)
  await follower.read()
  follower.checkAgainst(rows)
  await target.copy()
  if (isFull) await target.compare(ledger)
}

async function checkCount(world: World, ledger: Ledger, rows: readonly Row[]): Promise<void> {
  const text = (await world.run(['count', '--json'])) ?? '{}'
  const { subscribers, suppressed } = JSON.parse(text) as Record<string, number>
  check(subscribers === rows.length, () => `count says ${text.trim()}, and the export has ${rows.length} rows`)
  const expected = ledger.count('suppressed')
  check(suppressed === expected, () => `count says ${text.trim()}, and ${expected} addresses are suppressed`)
}

/** A statement of a killed process ends at its own pace. */
async function waitForServer(list: string): Promise<void> {
  const { getServer } = await import('../../test/support/postgres.ts')
  const server = await getServer()
  const name = new URL(list).pathname.slice(1)
  const query = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  await waitFor(
    'the server ends the statements of killed processes',
    async () => (await server.run(query, list)).length === 0,
    60_000,
  )
}

/** Every address of the list is known to an import, and every suppressed one is left out. */
async function importAgain({ world, ledger }: Parts): Promise<void> {
  for (const kind of ['subscribed', 'suppressed'] as const) {
    const identities = [...ledger.entries].filter(([, { state }]) => state.kind === kind).map(([identity]) => identity)
    const file = join(world.folder, `${kind}.txt`)
    await Bun.write(file, `${identities.join('\n')}\n`)
    const text = (await world.run(['import', file, '--json'])) ?? '{}'
    const summary = JSON.parse(text) as Record<string, number>
    const count = kind === 'subscribed' ? summary.known : summary.suppressed
    check(count === identities.length, () => `an import of ${identities.length} ${kind} addresses says ${text.trim()}`)
  }
}
