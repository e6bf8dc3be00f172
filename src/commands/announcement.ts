/** What the service says when it listens. */

import { resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { createCurlCall } from '../documents/terms.ts'
import { isTerminal, type Log } from '../log.ts'
import type { Service } from '../service.ts'
import { toListName } from '../store/list-name.ts'

type Listening = Pick<Service, 'port' | 'opsPort'>

/** Writes a line to the log, or on a terminal three lines for a person. The level `info` or a lower one shows them. */
export function announce({ port, opsPort }: Listening, { host, baseUrl, list }: Config, log: Log): void {
  const name = toListName(list)
  if (!isTerminal()) {
    const fields = { port, baseUrl, list: name, ...(opsPort !== undefined && { opsPort }) }
    log.info(fields, `listening on ${host} port ${port} for ${baseUrl}, with the list ${name}`)
    return
  }
  if (!log.isLevelEnabled('info')) return
  const place = list.kind === 'sqlite' ? resolve(list.file) : name
  const lines = [
    `Rollcall serves ${baseUrl} on ${host} port ${port}. Ctrl-C stops it.`,
    `The list is ${place}`,
    `Try it: ${createCurlCall(baseUrl).replace(/ \\\n */g, ' ')}`,
  ]
  process.stderr.write(`${lines.join('\n')}\n`)
}
