/** The settings of the systemd unit. */

import { readText } from '../support/markdown.ts'

export const UNIT = 'deploy/rollcall.service'

/** Returns the values of a setting of the unit, in order. */
export function readSetting(key: string): readonly string[] {
  const lines = readText(UNIT).split('\n')
  return lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1))
}

/** Returns the unit with the program that exists here. */
export function toLocalUnit(program: string): string {
  return readText(UNIT).replace(/^ExecStart=\S+/m, `ExecStart=${program}`)
}
