/** Writes docs/openapi.json: the description of a default site. A test compares it with the code. */

import { join } from 'node:path'
import { readConfig } from '../src/config/config.ts'
import { createDescription } from '../src/documents/openapi/description.ts'

const description = createDescription(readConfig({ SITE_FILE: '/dev/null' }))
await Bun.write(join(import.meta.dir, '../docs/openapi.json'), `${JSON.stringify(description, null, 2)}\n`)
