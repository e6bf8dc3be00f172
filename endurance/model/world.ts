/** One list, the services and commands that work on it at once, and what kills them. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BrokenPromise, check, waitFor } from '../check.ts'
import { type Exchange, type Load, startLoad } from '../load.ts'
import type { Random } from '../random.ts'
import { type List, type Service, toOutput, type Verb } from '../rollcall.ts'
import { confirm, type Operation } from './history.ts'
import type { Ledger } from './ledger.ts'

export type World = ReturnType<typeof createWorld>

/** Callers of each service. */
const CALLERS = 6

export function createWorld(list: List, folder: string, random: Random, ledger: Ledger) {
  const figures = { kills: 0, killedServices: 0, requests: 0, acknowledged: 0, failed: 0, verbs: 0, removed: 0 }
  const verbs = new Set<Verb>()
  let services: Service[] = []
  let loads: Load[] = []
  let files = 0

  function writeInput(lines: readonly string[], extension: string): string {
    const name = join(folder, `input-${++files}.${extension}`)
    writeFileSync(name, `${lines.join('\n')}\n`)
    return name
  }

  /** A spelling of an identity: some letters in upper case. */
  function spell(identity: string): string {
    return random.chance(0.7)
      ? identity
      : identity.replace(/[a-z]/g, (letter) => (random.chance(0.3) ? letter.toUpperCase() : letter))
  }

  /**
   * Runs a command, which must succeed unless it is killed.
   *
   * @returns what it prints, undefined when it was killed
   */
  async function run(args: readonly string[]): Promise<string | undefined> {
    figures.verbs++
    const verb = list.start(args)
    verbs.add(verb)
    const result = await verb.ended
    verbs.delete(verb)
    return verb.process.signalCode === 'SIGKILL' ? undefined : toOutput(args, result)
  }

  /** Starts services, and callers that subscribe until the round ends. */
  async function begin(count: number): Promise<void> {
    services = await Promise.all(Array.from({ length: count }, () => list.serve()))
    // A service on PostgreSQL creates the list after its start.
    for (const service of services) await waitFor('a service is ready', service.isReady, 60_000)
    loads = services.map((_, index) => startLoad(() => services[index]?.port ?? 0, { callers: CALLERS, next }))
  }

  function next() {
    const identity = ledger.choose(0.8)
    const email = spell(identity)
    const operation = ledger.begin(identity, { kind: 'subscribe', email })
    figures.requests++
    function onReply({ status }: Exchange): void {
      if (status !== 200) figures.failed++
      else {
        confirm(operation)
        figures.acknowledged++
      }
    }
    return { email, onReply }
  }

  /** Ends the callers and the services. Nothing runs afterward. */
  async function end(): Promise<void> {
    await Promise.all(loads.map((load) => load.stop()))
    await Promise.all(services.map((service) => service.stop(random.chance(0.5) ? 'SIGKILL' : 'SIGTERM')))
  }

  /** Kills a service, which is started again, or a command. */
  async function kill(): Promise<void> {
    const running = [...verbs]
    if (running.length > 0 && random.chance(0.6)) {
      const { process } = random.pick(running)
      if (process.exitCode !== null) return
      process.kill('SIGKILL')
      await process.exited
      if (process.signalCode === 'SIGKILL') figures.kills++
      return
    }
    const index = random.below(services.length)
    const service = services[index]
    if (!service || service.process.exitCode !== null) return
    await service.stop('SIGKILL')
    figures.kills++
    figures.killedServices++
    services[index] = await list.serve()
  }

  async function importSome(): Promise<void> {
    const operations: Operation[] = []
    const lines = ['email,subscribed_at']
    const used = new Set<string>()
    for (let left = random.between(100, 8_000); left > 0; left--) {
      const identity = ledger.choose(0.85)
      if (used.has(identity)) continue
      used.add(identity)
      const email = spell(identity)
      const date = random.chance(0.7) ? Date.UTC(2015, 0, 1) + random.below(3e11) : undefined
      operations.push(ledger.begin(identity, { kind: 'import', email, ...(date !== undefined && { date }) }))
      lines.push(`${email},${date === undefined ? '' : new Date(date).toISOString()}`)
    }
    const file = writeInput(lines, 'csv')
    const summary = await run(['import', file, '--json', '--yes'])
    rmSync(file)
    if (summary === undefined) return
    for (const operation of operations) confirm(operation)
    figures.acknowledged += operations.length
    const { added, already_listed: alreadyListed, left_out: leftOut } = JSON.parse(summary) as Record<string, number>
    const sum = (added ?? 0) + (alreadyListed ?? 0) + (leftOut ?? 0)
    check(sum === operations.length, () => `an import of ${operations.length} rows says ${summary}`)
  }

  /** Removes addresses, some of which are not on the list. */
  async function removeSome(suppress: boolean, identities: readonly string[]): Promise<void> {
    const operations = new Map(
      identities.map((identity) => [identity, ledger.begin(identity, { kind: 'remove', suppress })]),
    )
    const output = await run(['remove', '--json', ...(suppress ? [] : ['--forget']), ...identities])
    const { addresses } = JSON.parse(output ?? '{"addresses":[]}') as {
      addresses: readonly { email: string; was: 'subscribed' | 'suppressed' | 'absent' }[]
    }
    for (const { email, was } of addresses) {
      const operation = operations.get(email)
      if (!operation) throw new BrokenPromise(`a removal names an address that it was not given: ${email}`)
      confirm(operation, was)
      figures.removed++
    }
  }

  const chooseSome = (most: number) => [
    ...new Set(Array.from({ length: random.between(1, most) }, () => ledger.choose(0.1))),
  ]

  return {
    list,
    folder,
    figures,
    run,
    writeInput,
    begin,
    end,
    kill,
    importSome,
    removeSome,
    chooseSome,
  }
}
