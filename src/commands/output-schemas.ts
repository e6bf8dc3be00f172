/**
 * The shapes of the JSON output. The commands use their types; the tests compare every output with them, and the tables
 * of docs/cli.md with their names. No member is ever missing: an absent value is null.
 */

import { z } from 'zod'

const count = z.int().nonnegative()
const date = z.iso.datetime()
const names = z.array(z.string()).readonly()

const COUNT = { subscribers: count, reserved: count, suppressed: count }
const STATE = z.enum(['subscribed', 'suppressed', 'absent'])
const MEANING = z.enum(['subscribed', 'suppressed', 'skip'])
const CONTENT = z.strictObject({ ...COUNT, last_accepted_at: date.nullable() })
const TALLY = { added: count, known: count, suppressed: count }

/** One line on standard output. */
export const OUTPUTS = {
  count: z.strictObject(COUNT),
  has: z.strictObject({
    state: STATE,
    email: z.string().nullable(),
    subscribed_at: date.nullable(),
    seq: count.nullable(),
  }),
  import: z.strictObject({
    ...TALLY,
    opted_out: count,
    removed: count,
    kept: count,
    skipped: count,
    rejected: count,
    rejected_file: z.string().nullable(),
    columns: z.strictObject({ email: names, date: names, status: names }),
    statuses: z
      .array(z.strictObject({ column: z.string(), value: z.string(), status: MEANING, rows: count }))
      .readonly(),
  }),
  remove: z.strictObject({
    removed: count,
    suppressed: count,
    absent: count,
    addresses: z.array(z.strictObject({ email: z.string(), was: STATE, state: STATE })).readonly(),
  }),
  copy: z.strictObject({ ...TALLY, suppressions: count }),
  status: z.strictObject({
    list: z.string(),
    ...COUNT,
    last_accepted_at: date.nullable(),
    days: z.array(z.strictObject({ date: z.iso.date(), added: count })).readonly(),
    bytes: count,
    writable: z.boolean(),
    problem: z.string().nullable(),
  }),
  backup: z.strictObject({ file: z.string(), subscribers: count }),
  restore: z.strictObject({
    file: z.string(),
    list: z.string(),
    dry_run: z.boolean(),
    kept_files: names,
    before: CONTENT.nullable(),
    after: CONTENT,
  }),
  doctor: z.strictObject({
    list: z.string().nullable(),
    ok: z.boolean(),
    checks: z.array(z.strictObject({ check: z.string(), ok: z.boolean(), message: z.string() })).readonly(),
  }),
}

export type Outputs = { readonly [Verb in keyof typeof OUTPUTS]: Readonly<z.infer<(typeof OUTPUTS)[Verb]>> }
