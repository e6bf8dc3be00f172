/**
 * `npm run test:lighthouse`: rates the page with Lighthouse, as a phone and as a desktop. Prints a table in Markdown.
 *
 * Not part of `npm test`: npx downloads Lighthouse. Exit code 1 when a rating is below 100.
 */

import chromium from '@sparticuz/chromium'
import { startService } from '../support/service.ts'

/** The last version for Node 20. */
const VERSION = '12.8.2'

interface Report {
  readonly categories: Readonly<Record<string, { readonly title: string; readonly score: number | null }>>
}

/** Rates a page in the browser of the tests. */
async function rate(url: string, options: readonly string[]): Promise<Report> {
  const flags = '--chrome-flags=--headless --no-sandbox --disable-gpu'
  const command = ['npx', '--yes', `lighthouse@${VERSION}`, url, '--quiet', '--output=json', flags, ...options]
  const child = Bun.spawn(command, {
    env: { ...process.env, CHROME_PATH: await chromium.executablePath() },
    stderr: 'inherit',
  })
  const report = await child.stdout.text()
  if ((await child.exited) === 0) return JSON.parse(report)
  console.error(`lighthouse ${VERSION} did not run: npx must be able to download it`)
  process.exit(1)
}

const service = await startService({ site: 'name: The Gazette' })
process.once('exit', () => service.process.kill('SIGKILL'))
const reports = { phone: await rate(service.origin, []), desktop: await rate(service.origin, ['--preset=desktop']) }
await service.stop()

const titles = Object.values(reports.phone.categories).map(({ title }) => title)
console.log(toRow([`Lighthouse ${VERSION}`, ...titles]))
console.log(toRow(['---', ...titles.map(() => '---')]))
let lowest = 100
for (const [name, { categories }] of Object.entries(reports)) {
  const ratings = Object.values(categories).map(({ score }) => Math.round((score ?? 0) * 100))
  lowest = Math.min(lowest, ...ratings)
  console.log(toRow([name, ...ratings]))
}
process.exit(lowest < 100 ? 1 : 0)

function toRow(cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`
}
