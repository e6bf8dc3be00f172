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

/** One line on standard output. `remove` prints a line for each address; the other verbs print one line. */
export const OUTPUTS = {
  version: z.strictObject({ rollcall: z.string(), commit: z.string().nullable(), bun: z.string(), sqlite: z.string() }),
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
  remove: z.strictObject({ email: z.string(), was: STATE, state: STATE }),
  copy: z.strictObject({ ...TALLY, suppressions: count, cursor: count }),
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

/** The summaries of verbs that print rows. */
export const SUMMARIES = {
  export: z.strictObject({ exported: count, reserved_excluded: count, formulas: count.nullable(), cursor: count }),
  remove: z.strictObject({ removed: count, suppressed: count, absent: count, rejected: count }),
}

/** One line on standard error. */
export const MESSAGE = z.union([
  z.strictObject({ note: z.string() }),
  z.strictObject({ summary: z.union(Object.values(SUMMARIES)) }),
  z.strictObject({ error: z.strictObject({ message: z.string(), exit_code: z.int().min(1) }) }),
])

type Shapes<Schemas extends Readonly<Record<string, z.ZodType>>> = {
  readonly [Name in keyof Schemas]: Readonly<z.infer<Schemas[Name]>>
}
export type Outputs = Shapes<typeof OUTPUTS>
export type Summaries = Shapes<typeof SUMMARIES>
export type Message = z.infer<typeof MESSAGE>
