/** Random operations of services and commands at once, kills at random moments, and a model that knows what must be there. */

import { getServer, toDatabase } from '../../test/support/postgres.ts'
import { check, waitFor } from '../check.ts'
import { createLedger, type Ledger } from '../model/ledger.ts'
import { type Copier, createCopier, createFollower, type Follower } from '../model/readers.ts'
import { createWorld, type World } from '../model/world.ts'
import type { Random } from '../random.ts'
import type { List } from '../rollcall.ts'
import { type Row, readRows } from '../rows.ts'
import type { StoreKind, Trial } from '../trial.ts'

/** Kills and new addresses of a round. Nothing runs between two rounds, so that the list can be compared. */
const KILLS = 5
const ADDRESSES = 25_000

/** A round ends after so many milliseconds. */
const ROUND_MS = 40_000

/** Commands at once. */
const ACTORS = 2

const VERBS = ['import', 'import', 'import', 'remove', 'remove', 'forget', 'count', 'copy'] as const

interface Parts {
  readonly store: StoreKind
  readonly random: Random
  readonly world: World
  readonly ledger: Ledger
  readonly follower: Follower
  readonly copier: Copier
}

export const model: Trial = {
  name: 'model',
  promise:
    'random operations at once, 100 kills, half a million addresses: none lost, none twice; dates, spellings, suppressions and cursors exact',
  minutes: { sqlite: 4, postgres: 4 },
  async run({ store, folder, random, amount, createList, progress }) {
    // PostgreSQL numbers groups in the order of UUIDv7, which count milliseconds. SQLite has one lock for all processes.
    const ledger = createLedger(random.fork('addresses'), store === 'postgres' ? 1 : 0)
    const world = createWorld(await createList(), folder, random.fork('world'), ledger)
    const parts: Parts = {
      store,
      random,
      world,
      ledger,
      follower: createFollower(world),
      copier: createCopier(world, ledger, createList),
    }
    const kills = amount(100, 5)
    const addresses = amount(500_000, 20_000)
    let rounds = 0
    for (; world.figures.kills < kills || ledger.everListed() < addresses; rounds++) {
      await runRound(parts, Math.min(ADDRESSES, addresses))
      await compare(parts)
      const listed = `${ledger.everListed()} addresses, ${ledger.count('subscribed')} of them on the list now`
      progress(`round ${rounds + 1}: ${world.figures.kills} kills, ${listed}`)
    }
    await importAgain(parts)
    const { figures } = world
    return {
      'rounds, each with a comparison': rounds,
      'kills of a service': figures.killedServices,
      'kills of a command': figures.kills - figures.killedServices,
      commands: figures.verbs,
      requests: figures.requests,
      'requests without a 200': figures.failed,
      'acknowledged requests and imported rows': figures.acknowledged,
      removals: figures.removed,
      'addresses that were listed': ledger.everListed(),
      'addresses on the list at the end': ledger.count('subscribed'),
      'addresses suppressed at the end': ledger.count('suppressed'),
      'rows read by cursor': parts.follower.count(),
    }
  },
}

async function runRound({ store, random, world, ledger, ...parts }: Parts, addresses: number): Promise<void> {
  const start = { at: performance.now(), kills: world.figures.kills, addresses: ledger.entries.size }
  const isDone = () =>
    performance.now() - start.at > ROUND_MS ||
    (world.figures.kills >= start.kills + KILLS && ledger.entries.size >= start.addresses + addresses)
  await world.begin(random.between(1, 3))
  let copies = 0

  async function act(): Promise<void> {
    while (!isDone()) {
      const verb = random.pick(VERBS)
      if (verb === 'import') await world.importSome()
      else if (verb === 'remove') await world.removeSome(true, world.chooseSome(100))
      else if (verb === 'forget') await world.removeSome(false, world.chooseSome(50))
      else if (verb === 'count') await world.run(['count'])
      // One of a kind in a round: each is read back.
      else if (copies < 2) await parts.copier.take(copies++ > 0 && store === 'sqlite')
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

/** Nothing runs: the list, the reader by cursor and a copy must be what the model says. */
async function compare({ store, world, ledger, follower, copier }: Parts): Promise<void> {
  if (store === 'postgres') await waitForServer(world.list)
  const rows = await readRows(world.list)
  const unclear = ledger.settle(rows)
  if (unclear.length > 0) {
    await world.removeSome(true, unclear)
    for (const identity of unclear) ledger.settleUnclear(identity)
  }
  await checkCount(world, ledger, rows)
  await follower.read()
  follower.checkAgainst(rows)
  await copier.checkAgainst(rows)
}

/** Waits until nobody uses the database of a list: a statement of a killed process ends at its own pace. */
async function waitForServer(list: List): Promise<void> {
  const server = await getServer()
  const query = `SELECT 1 FROM pg_stat_activity
    WHERE datname = '${toDatabase(list.url)}' AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
  const isIdle = async () => (await server.run(query, server.admin)).length === 0
  await waitFor('the server ends the statements of killed processes', isIdle, 60_000)
}

async function checkCount({ list }: World, ledger: Ledger, rows: readonly Row[]): Promise<void> {
  const text = await list.run(['count', '--json'])
  const { subscribers, suppressed } = JSON.parse(text) as Record<string, number>
  check(subscribers === rows.length, () => `count says ${text.trim()}, and the export has ${rows.length} rows`)
  const expected = ledger.count('suppressed')
  check(suppressed === expected, () => `count says ${text.trim()}, and ${expected} addresses are suppressed`)
}

/** Every address of the list is known to an import, and every suppressed one is left out. */
async function importAgain({ world, ledger }: Parts): Promise<void> {
  for (const kind of ['subscribed', 'suppressed'] as const) {
    const identities = [...ledger.entries].filter(([, { state }]) => state.kind === kind).map(([identity]) => identity)
    const text = await world.list.run(['import', world.writeInput(identities, 'txt'), '--json'])
    const summary = JSON.parse(text) as Record<string, number>
    const count = kind === 'subscribed' ? summary.already_listed : summary.left_out
    check(count === identities.length, () => `an import of ${identities.length} ${kind} addresses says ${text.trim()}`)
  }
}
