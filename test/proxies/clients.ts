/** Clients that post large bodies without a proxy. Node and Bun are in test/http/discard.test.ts. */

import { join } from 'node:path'
import { RESPONSES } from '../support/contract.ts'

export interface Client {
  readonly program: string
  /** Returns what each request got: the client, the size of the body, the status and the body of the response. */
  post(origin: string): readonly Outcome[]
}

interface Outcome {
  readonly client: string
  readonly size: number
  readonly status: number
  readonly text: string
}

const SIZES = [17_000, 100_000, 1_000_000, 100_000_000]

/** Arguments of curl. By default, it sends a large body after the 100 of the server. */
const CURL_OPTIONS = [[], ['--header', 'Expect:'], ['--header', 'Transfer-Encoding: chunked'], ['--http1.0']]

export const CLIENTS: readonly Client[] = [
  {
    program: 'python3',
    post: (origin) => {
      const script = join(import.meta.dir, 'large_posts.py')
      const { stdout } = Bun.spawnSync(['python3', script, origin, ...SIZES.map(String)], { stderr: 'inherit' })
      const lines = stdout.toString().trim().split('\n')
      return lines.map((line): Outcome => JSON.parse(line))
    },
  },
  {
    program: 'curl',
    post: (origin) => SIZES.flatMap((size) => CURL_OPTIONS.map((options) => postByCurl(origin, size, options))),
  },
]

function postByCurl(origin: string, size: number, options: readonly string[]): Outcome {
  const headers = ['--header', 'Content-Type: application/json', ...options]
  const output = ['--silent', '--write-out', '\n%{http_code}']
  const { stdout } = Bun.spawnSync(['curl', ...output, ...headers, '--data-binary', '@-', `${origin}/api/newsletter`], {
    stdin: Buffer.alloc(size, 'x'),
  })
  const [text = '', status] = stdout.toString().split('\n')
  return { client: ['curl', ...options].join(' '), size, status: Number(status), text }
}

/** Posts with a client. Returns how many requests got the 413 of the contract; throws unless all of them did. */
export function checkClient(client: Client, origin: string): string {
  const outcomes = client.post(origin)
  const { status, body } = RESPONSES.large_body
  const failed = outcomes.filter((outcome) => outcome.status !== status || outcome.text !== body)
  const seen = `${outcomes.length - failed.length} of ${outcomes.length}`
  if (failed.length > 0 || outcomes.length === 0) throw new Error(`${seen}; ${JSON.stringify(failed[0])}`)
  return seen
}
