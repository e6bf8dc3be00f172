/** `npm run openapi`: prints the description of the site in SITE_FILE, for docs/openapi.json. */

import { readConfig } from '../src/config/config.ts'
import { createDescription, toJson } from '../src/documents/openapi/description.ts'

process.stdout.write(toJson(createDescription(readConfig())))
