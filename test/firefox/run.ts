/**
 * `npm run test:firefox`: does what readers do with the page, in the Firefox of the system. Prints a list in Markdown.
 *
 * Not part of `npm test`: Firefox must be installed. Exit code 1 when it is missing, or when a check fails.
 */

import { readList } from '../support/list-file.ts'
import { requirePrograms } from '../support/programs.ts'
import { createFolder, startService } from '../support/service.ts'
import { CHECKS } from './checks.ts'
import { startFirefox } from './firefox.ts'

requirePrograms({ 'firefox-esr': 'firefox-esr' })

const folder = await createFolder()
const service = await startService({ folder, site: 'name: The Gazette' })
process.once('exit', () => service.process.kill('SIGKILL'))
const firefox = await startFirefox()
console.log(`Firefox ${firefox.version}:`)
let failures = 0
for (const { name, run } of CHECKS) {
  const tab = await firefox.createTab()
  try {
    await run({ tab, origin: service.origin, readList: () => readList(folder) })
    console.log(`- ${name}`)
  } catch (error) {
    failures++
    console.log(`- **fails:** ${name}: ${error instanceof Error ? error.message : error}`)
  }
  await tab.close()
}
await firefox.close()
await service.stop()
process.exit(failures > 0 ? 1 : 0)
