/** The machine: its cores, and the programs that a run needs. */

import { existsSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import { fileURLToPath } from 'node:url'

/** The cores of the server and of the load generator, in the format of `taskset -c`. */
export interface Pins {
  readonly server: string
  readonly load: string
}

/** Gives the load generator a core of its own; undefined if there is only one. */
export function choosePins(cores = availableParallelism()): Pins | undefined {
  if (cores < 2) return undefined
  const last = cores - 1
  return { server: last === 1 ? '0' : `0-${last - 1}`, load: String(last) }
}

/** Pins a command to some cores. */
export function pinned(cores: string | undefined, command: readonly string[]): string[] {
  return cores === undefined ? [...command] : ['taskset', '-c', cores, ...command]
}

/** Describes the machine for the report. */
export function describeMachine(pins: Pins | undefined): string[] {
  const place = pins
    ? `every server on core ${pins.server}, the load generator alone on core ${pins.load} (taskset)`
    : 'not pinned: one core for the servers and the load generator together'
  return [
    `${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${availableParallelism()} cores, Linux ${release()}, Bun ${Bun.version}`,
    place,
  ]
}

/** The entry point of the command line. */
export const CLI = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

/** The folder of the results; git ignores it. */
export const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

/** The folder of the baselines, which have a package.json of their own. */
export const BASELINES = fileURLToPath(new URL('baselines/', import.meta.url))

/** The Node that the baselines install. */
export const BASELINES_NODE = `${BASELINES}node_modules/.bin/node`

/** What a contender needs, and may not be installed. */
export type Need = 'baselines' | 'nginx'

/** Says what is missing and how to install it; undefined if nothing is. */
export function findMissing(need: Need): string | undefined {
  if (need === 'nginx') {
    return Bun.which('nginx') ? undefined : 'nginx is not installed: apt-get install nginx-light'
  }
  return existsSync(BASELINES_NODE) ? undefined : 'the baselines are not installed: npm ci --prefix bench/baselines'
}

/**
 * Checks for what every run needs.
 *
 * @throws Error that says how to install it
 */
export function requireTools(): void {
  if (process.platform !== 'linux') throw new Error('the benchmark reads /proc: run it on Linux')
  if (!Bun.which('wrk')) throw new Error('wrk is missing: apt-get install wrk')
}
