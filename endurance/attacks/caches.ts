/** Long values of fields, by which the service might cache responses. */

import { check } from '../check.ts'
import { type Connection, connect } from '../connection.ts'
import { readMemory } from '../usage.ts'
import type { Attack } from './attack.ts'

/** Values of a field for each variant of a document, and the MiB by which memory may grow with them. */
const VALUES = 64
const MOST_GROWTH = 64

/** Bytes of a value that the runtime still takes. */
const LONG = 15_000

/** A page suggests the language of its reader, so each page has a variant for each language. */
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-br', 'it', 'nl', 'pl', 'uk', 'ar', 'ja', 'zh-hans']
const DOCUMENTS = ['/openapi.json', '/openapi.yaml', '/llms.txt', '/sitemap.xml', '/robots.txt']
const VARIANTS = [
  ...DOCUMENTS.map((path) => ({ path, language: 'en' })),
  ...LANGUAGES.slice(1).flatMap((page) => LANGUAGES.map((language) => ({ path: `/${page}`, language }))),
]

export const caches: Attack = {
  name: 'long values of fields',
  async run({ createList }) {
    const service = await (await createList()).serve()
    const connection = await connect(service.port)
    // The same load with a field that is not read comes first.
    await send(connection, 'X-Plain')
    const before = readMemory(service.process.pid).now
    for (const field of ['Accept-Encoding', 'Accept', 'If-None-Match']) await send(connection, field)
    const growth = readMemory(service.process.pid).now - before
    connection.close()
    await service.stop()
    const sent = VARIANTS.length * VALUES
    check(
      growth <= MOST_GROWTH,
      () => `memory grows by ${growth.toFixed(0)} MiB with ${sent} long values of each field`,
    )
    return { 'memory growth with long values of fields, MiB': growth }
  },
}

async function send(connection: Connection, field: string): Promise<void> {
  for (const { path, language } of VARIANTS) {
    for (let index = 0; index < VALUES; index++) {
      const fields = `Accept-Language: ${language}\r\n${field}: ${`${index}`.padEnd(LONG, 'a')}`
      await connection.request(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${fields}\r\n\r\n`, 'GET')
    }
  }
}
