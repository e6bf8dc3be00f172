/** What a block of the documentation says that a command prints. */

import { expect } from 'bun:test'

/** Compares an output with a block, in which `…` stands for any text of a line, and a line `…` for any lines. */
export function expectOutput(found: string, block: string): void {
  const toPattern = (line: string) => `${line.split('…').map(escapePattern).join('.*')}\n`
  const pattern = block
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\n)*' : toPattern(line)))
  if (!new RegExp(`^${pattern.join('')}$`).test(found)) expect(found).toBe(block)
}

const escapePattern = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
