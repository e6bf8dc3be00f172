/** The intake of a store that hangs or fails: addresses are given up in time, and the log says once why. */

import { expect, test } from 'bun:test'
import pino from 'pino'
import type { Address } from '../../src/email.ts'
import { createIntake } from '../../src/intake/intake.ts'
import { until } from '../support/wait.ts'

test('an address is given up after 5 s; the failure and the recovery are logged once', async () => {
  const messages: string[] = []
  const log = pino({ base: null }, { write: (line: string) => messages.push(JSON.parse(line).msg) })
  const hanging = Promise.withResolvers<void>()
  const intake = createIntake({ add: () => hanging.promise, check: async () => {} }, { log })

  const add = (name: string) => intake.add(`${name}@example.org` as Address).catch(({ message }) => message)
  const first = add('first')
  // Two batches whose deadlines pass at different times.
  await Bun.sleep(300)
  const second = add('second')
  const late = 'the store did not confirm within 4500 ms'
  expect(await Promise.all([first, second])).toEqual([late, late])
  const failure = 'the store fails: requests get 500 storage_failure until it recovers'
  expect(messages).toEqual([failure])
  await expect(intake.check()).rejects.toThrow('the store fails')

  hanging.resolve()
  await until(() => messages.length > 1, 'the recovery is logged')
  await intake.check()
  await intake.drain()
  expect(messages).toEqual([failure, 'the store has recovered'])
})

test('each reason of a failure is logged once', async () => {
  const reasons: string[] = []
  const log = pino({ base: null }, { write: (line: string) => reasons.push(JSON.parse(line).err?.message ?? 'works') })
  const outcomes = ['no connection', 'not durable', 'no connection', 'not durable']
  const add = async (addresses: readonly Address[]) => {
    const reason = addresses.length > 0 ? outcomes.shift() : undefined
    if (reason !== undefined || outcomes.length > 0) throw new Error(reason ?? 'no connection')
  }
  const intake = createIntake({ add, check: async () => {} }, { log })
  while (outcomes.length > 0) await intake.add('a@example.org' as Address).catch(() => {})
  await intake.add('a@example.org' as Address)
  expect(reasons).toEqual(['no connection', 'not durable', 'works'])
})
