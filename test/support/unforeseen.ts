/** The application with handlers that throw unexpected errors, which no request to the real service can provoke. */

import pino from 'pino'
import type { Config } from '../../src/config/config.ts'
import { createApp } from '../../src/http/app.ts'
import { createBodyReader } from '../../src/http/body.ts'
import { createCors } from '../../src/http/cors.ts'
import { createCommonHeaders } from '../../src/http/responses.ts'
import { listen } from '../../src/http/server.ts'
import { toLogged } from '../../src/log.ts'
import { DOCUMENTS } from './contract.ts'
import { exchange, type RawReply, toRequest } from './raw.ts'
import type { Operation } from './response-check.ts'

export interface FailingService {
  /** Sends the request of an operation. */
  provoke(operation: Operation): Promise<RawReply | undefined>
  /** Returns the lines of the log so far. */
  log(): readonly { readonly err: { readonly stack: string } }[]
  stop(): Promise<number>
}

/** Starts the application on a free port. */
export function startFailingService({ baseUrl }: Config): FailingService {
  const lines: string[] = []
  const fail = () => {
    throw new Error('an unexpected error')
  }
  const headers = createCommonHeaders(baseUrl)
  const app = createApp({
    baseUrl,
    headers,
    cors: createCors([], headers),
    body: createBodyReader(),
    subscribe: async () => fail(),
    documents: new Map(Object.values(DOCUMENTS).map(({ path }) => [path, fail])),
    pages: new Map(),
    log: pino({ serializers: { err: toLogged } }, { write: (line) => void lines.push(line) }),
  })
  const server = listen(app, { port: 0, host: '127.0.0.1' })
  return {
    provoke: ({ method, path }) => exchange(server.port, toRequest(`${method} ${path}`, ['Host: 127.0.0.1'])),
    log: () => lines.map((line) => JSON.parse(line)),
    stop: () => server.stop(performance.now()),
  }
}
