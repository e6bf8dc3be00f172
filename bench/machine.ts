/** The machine that is measured on: its cores, and the programs of others that a run needs. */

import { existsSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import { fileURLToPath } from 'node:url'

/** Which cores the two sides of a measurement run on, in the form that `taskset -c` takes. */
export interface Pins {
  readonly server: string
  readonly load: string
}

/** Parts the load generator from the server where there are two cores; undefined where there is one. */
export function choosePins(cores = availableParallelism()): Pins | undefined {
  if (cores < 2) return undefined
  const last = cores - 1
  return { server: last === 1 ? '0' : `0-${last - 1}`, load: String(last) }
}

/** Puts a command on some cores. */
export function pinned(cores: string | undefined, command: readonly string[]): string[] {
  return cores === undefined ? [...command] : ['taskset', '-c', cores, ...command]
}

/** What was measured on, in lines for people. */
export function describeMachine(pins: Pins | undefined): string[] {
  const place = pins
    ? `every server on core ${pins.server}, the load generator alone on core ${pins.load} (taskset)`
    : 'not pinned: one core for the servers and the load generator together'
  return [
    `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} cores, Linux ${release()}, Bun ${Bun.version}`,
    place,
  ]
}

/** The command line, as `bun` is to run it. */
export const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** The folder of what a run writes and keeps; git leaves it alone. */
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

/** The baselines' folder, where their own `npm ci` was run. */
export const BASELINES = fileURLToPath(new URL('baselines/', import.meta.url))

/** The Node that the baselines brought along. */
export const BASELINES_NODE = `${BASELINES}node_modules/.bin/node`

/** What a contender may need that is not always there. */
export type Need = 'baselines' | 'nginx'

/** Says what is missing, and how to get it; undefined when nothing is. */
export function findMissing(need: Need): string | undefined {
  if (need === 'nginx')
    return Bun.which('nginx') ? undefined : 'nginx is not installed: apt-get install nginx-light'
  if (need === 'baselines')
    return existsSync(BASELINES_NODE)
      ? undefined
      : 'the baselines are not installed: npm ci --prefix bench/baselines'
  return undefined
}

/**
 * Looks for what no run can do without.
 *
 * @throws Error in one line that says how to install it
 */
export function requireTools(): void {
  if (process.platform !== 'linux') throw new Error('the benchmark reads /proc: run it on Linux')
  if (!Bun.which('wrk')) throw new Error('wrk is missing: apt-get install wrk')
}
