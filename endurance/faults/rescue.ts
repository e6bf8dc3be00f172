/** What a service saves of a list that it has lost: a file with `rescue` in its name, which is a list too. */

import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { check, checkDuring } from '../check.ts'
import { toList } from '../rollcall.ts'
import { checkKept } from '../rows.ts'
import type { Scene } from './fault.ts'

/** The file is next to the list or, when the folder of the list is gone, next to that. */
export async function checkRescued(
  { dataFolder }: Scene,
  kept: { readonly acknowledged: readonly string[]; readonly sent: ReadonlySet<string> },
): Promise<void> {
  const home = dirname(dataFolder)
  const names = readdirSync(home, { recursive: true }).map(String)
  const [name, ...others] = names.filter((one) => /rescue[^/]*\.db$/.test(one))
  check(name !== undefined, () => `no rescue file has the ${kept.acknowledged.length} acknowledged addresses`)
  check(others.length === 0, () => `there are several rescue files: ${names.join(', ')}`)
  await checkDuring('the rescue file', () => checkKept(toList(`sqlite:${join(home, name)}`, home), kept))
}
