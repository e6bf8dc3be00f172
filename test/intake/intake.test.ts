/** Group commit: which addresses share a commit, which are given up, and what the log says when the store fails. */

import { expect, test } from 'bun:test'
import pino from 'pino'
import type { Address } from '../../src/email.ts'
import { createIntake } from '../../src/intake/intake.ts'
import { GIVE_UP_MS } from '../../src/limits.ts'
import { ROOT } from '../support/paths.ts'
import { until } from '../support/wait.ts'

/**
 * Starts an intake whose commits end when the test says so, and records what happens in order. Not a real store: its commits end when the
 * disk or the server does. test/service and test/store/postgres have the real ones.
 */
function start(ready = async () => {}) {
  const events: string[] = []
  const commits: PromiseWithResolvers<void>[] = []
  const write = (line: string) => events.push(JSON.parse(line).err?.message ?? JSON.parse(line).msg)
  const commit = (event: string) => {
    events.push(event)
    commits.push(Promise.withResolvers())
    return commits.at(-1)!.promise
  }
  const intake = createIntake(
    {
      add: (batch) => commit(`commit ${batch.join(' ')}`),
      probe: () => commit('probe'),
      ready,
    },
    { log: pino({ base: null }, { write }) },
  )

  async function end(index: number, error?: string): Promise<void> {
    await until(() => commits.length > index, `commit ${index} starts`)
    if (error) commits[index]!.reject(new Error(error))
    else commits[index]!.resolve()
    await turns()
  }

  async function add(...names: string[]): Promise<void> {
    const settle = (name: string) =>
      intake.add(name as Address).then(
        () => events.push(`${name} confirmed`),
        () => events.push(`${name} refused`),
      )
    await Promise.all(names.map(settle))
  }

  return { ...intake, events, add, end }
}

/** Lets the event loop take more turns than a burst may delay a commit. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

test('addresses of one turn share a commit; addresses that come during a commit share the next one', async () => {
  const { add, end, close, events, pending } = start()
  void add('a', 'b', 'c')
  await turns()
  void add('d')
  await turns()
  void add('e')
  expect(pending()).toBe(5)
  const closed = close()
  await end(0)
  expect(pending()).toBe(2)
  await end(1)
  await closed
  expect(pending()).toBe(0)
  expect(events).toEqual([
    ...['commit a b c', 'a confirmed', 'b confirmed', 'c confirmed'],
    ...['commit d e', 'd confirmed', 'e confirmed'],
  ])
})

test('a commit begins while addresses come in without a pause', async () => {
  const { add, end, close, events } = start()
  for (let turn = 0; turn < 50; turn++) {
    void add(`${turn}`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [first = ''] = events
  expect(first).toStartWith('commit 0 ')
  // The commit waits for one turn and four more, which add an address each. The turn in which it begins may add another one.
  expect(first.split(' ').length - 1).toBeLessThan(10)
  const closed = close()
  await end(0)
  await end(1)
  await closed
})

test('a commit that fails refuses its own addresses only; each reason is logged once', async () => {
  const { add, end, events } = start()
  for (const [index, error] of ['no disk', 'no server', 'no disk', undefined].entries()) {
    void add(`${index}`)
    await turns()
    await end(index, error)
  }
  expect(events).toEqual([
    ...['commit 0', 'no disk', '0 refused', 'commit 1', 'no server', '1 refused'],
    ...['commit 2', '2 refused', 'commit 3', 'the store has recovered', '3 confirmed'],
  ])
})

test('addresses are given up while a commit hangs, and those that no commit has are dropped', async () => {
  const { add, end, ready, events, pending } = start()
  const committing = add('a')
  await turns()
  await Promise.all([committing, add('b', 'c')])
  expect(events).toEqual([
    'commit a',
    'the store did not confirm within 4500 ms',
    'a refused',
    'b refused',
    'c refused',
  ])
  expect(pending()).toBe(1)
  await expect(ready()).rejects.toThrow('the store fails')

  const late = add('d')
  await end(0)
  await ready()
  await end(1)
  await late
  expect(events.slice(5)).toEqual(['the store has recovered', 'commit d', 'd confirmed'])
})

test('without requests, a probe finds out that the store works again', async () => {
  const { add, end, ready, events } = start()
  void add('a')
  await end(0, 'no disk')
  await end(1, 'no disk')
  await end(2)
  await ready()
  expect(events).toEqual(['commit a', 'no disk', 'a refused', 'probe', 'probe', 'the store has recovered'])
})

test('an address that is confirmed leaves no timer: its deadline would say that the store fails', async () => {
  const script = `import { createIntake } from '${ROOT}/src/intake/intake.ts'
    import { createLog } from '${ROOT}/src/log.ts'
    const done = async () => {}
    const intake = createIntake({ add: done, probe: done, ready: done }, { log: createLog('info') })
    await intake.add('ada@site.io')
    await intake.ready()
    await intake.close()
    const start = performance.now()
    process.on('exit', () => console.log(performance.now() - start))`
  const { stdout, stderr } = Bun.spawnSync([process.execPath, '-e', script])
  expect(stderr.toString()).toBe('')
  // The process ends when nothing is left to wait for.
  expect(Number(stdout.toString())).toBeWithin(0, GIVE_UP_MS / 2)
})

test('a service that was not ready at its start says that it is, when a commit shows it', async () => {
  const { add, end, ready, events } = start(() => Promise.reject(new Error('no server')))
  await expect(ready()).rejects.toThrow('no server')
  const adding = add('a')
  await end(0)
  await adding
  expect(events).toEqual(['no server', 'commit a', 'the service is ready again', 'a confirmed'])
})
