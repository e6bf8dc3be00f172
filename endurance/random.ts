/** Random choices that a seed repeats. The order in which processes run is not repeated. */

export interface Random {
  /** A number from 0 to below 1. */
  next(): number
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  /** A whole number from `first` to `last`, both included. */
  between(first: number, last: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** One of the values. @throws RangeError when there is none */
  pick<Value>(values: readonly Value[]): Value
  /** A generator of its own for a part of a trial, so that parts do not change each other's choices. */
  fork(label: string): Random
}

/** Creates a generator: mulberry32, a 32-bit generator with good enough statistics for tests. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }

  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (probability) => next() < probability,
    pick(values) {
      if (values.length === 0) throw new RangeError('there is nothing to choose from')
      return values[below(values.length)] as (typeof values)[number]
    },
    fork: (label) => createRandom(Number(Bun.hash.crc32(`${seed} ${label}`))),
  }
}
