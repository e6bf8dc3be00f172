/** The lines before the content of a text: blank ones, comments, and the one in which Excel names the delimiter. */

import { parseAddress } from '../../email.ts'
import { Failure } from '../../failure.ts'
import { MAX_ROW_LENGTH } from '../../limits.ts'
import { isEmailName } from './columns.ts'
import type { PeekedText } from './rows.ts'

interface Head extends Pick<PeekedText, 'firstLine' | 'line' | 'delimiter' | 'lineBreak'> {
  /** Where the first line ends in the text. */
  readonly end: number
}

const LINE = /([^\r\n]*)(?:\r\n|\r|\n|$)/g

/** Reads a text up to its first line with content. @throws Failure when it has none, or when a line is too long */
export async function peek(parts: AsyncIterable<string>, name: string): Promise<PeekedText> {
  const { end: _, ...head } = await readHead(parts, name)
  return { ...head, name, parts: { [Symbol.asyncIterator]: () => skipLines(parts, head.line - 1) } }
}

async function readHead(parts: AsyncIterable<string>, name: string): Promise<Head> {
  let start = ''
  for await (const part of parts) {
    start += part
    const head = findHead(start)
    // The first line is complete when both characters of a CRLF would be here.
    if (head && start.length > head.end + 1) return checkLength(head, name)
    if (start.length > 2 * MAX_ROW_LENGTH) break
  }
  const head = findHead(start)
  if (!head) throw new Failure(`${name}: it is empty`)
  return checkLength(head, name)
}

function checkLength(head: Head, name: string): Head {
  if (head.firstLine.length <= MAX_ROW_LENGTH) return head
  throw new Failure(`${name}: line ${head.line} is longer than ${MAX_ROW_LENGTH} characters`)
}

/** Finds the first line with content. */
function findHead(text: string): Head | undefined {
  let delimiter: string | undefined
  let line = 1
  for (const { 1: content = '', index } of text.matchAll(LINE)) {
    const firstLine = content.trim()
    const named = /^"?sep=(.)"?$/i.exec(firstLine)?.[1]
    if (firstLine !== '' && named === undefined && !isComment(firstLine)) {
      const lineBreak = text.includes('\r') && !text.includes('\n') ? '\r' : '\n'
      return { firstLine, line, delimiter, lineBreak, end: index + content.length }
    }
    delimiter = named ?? delimiter
    line++
  }
  return undefined
}

/** An address and the name of a column may begin with `#` too. */
function isComment(line: string): boolean {
  return line.startsWith('#') && !parseAddress(line).ok && !line.split(/[,;\t|]/).some(isEmailName)
}

/** Leaves out the first lines of a text. */
async function* skipLines(parts: AsyncIterable<string>, count: number): AsyncGenerator<string> {
  // A carriage return at the end may be half of a CRLF.
  const head = new RegExp(`^(?:[^\\r\\n]*(?:\\r\\n|\\n|\\r(?!$))){${count}}`)
  let start: string | undefined = ''
  for await (const part of parts) {
    if (start === undefined) {
      yield part
      continue
    }
    start += part
    const skipped = head.exec(start)?.[0].length
    if (skipped === undefined) continue
    yield start.slice(skipped)
    start = undefined
  }
}
