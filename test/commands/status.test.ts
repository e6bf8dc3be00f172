import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { createCliFixture } from '../support/cli-fixture.ts'
import { PROGRAM } from '../support/program.ts'
import { findMidnight } from '../support/wait.ts'
import { createFolder, findPort } from '../support/workspace.ts'

/** A command in it may mount a file system of its own. */
const IN_NAMESPACE = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const CAN_MOUNT = Bun.spawnSync([...IN_NAMESPACE, 'true']).success

test('prints the state and a chart of ninety days, as text and as JSON', async () => {
  await findMidnight()
  const { folder, list, print } = await createCliFixture()
  const today = new Date().toISOString().slice(0, 10)
  await print(['import', '-'], `email,date\na@site.io,${today}\nb@example.org,${today}\nc@site.io,2020-01-01\n`)
  const lines = (await print(['status'])).trimEnd().split('\n')
  expect(lines).toContain(`list        ${list}`)
  const numbers = { addresses: '3', imported: '1', reserved: '1', today: '2', '90 days': '0 before today' }
  for (const [name, value] of Object.entries({ writable: 'yes', ...numbers })) {
    expect(lines).toContain(name.padEnd(12) + value)
  }
  expect(lines.slice(-2)).toEqual([`${' '.repeat(89)}█`, `${toDate(89)} to ${today}, most on a day: 2`])
  expect(lines.slice(1, -2).filter((line) => line.length > 40)).toEqual([])
  const { days, ...status } = JSON.parse(await print(['status', '--json']))
  const counts = { subscribers: 3, imported: 1, reserved: 1, suppressed: 0 }
  expect(status).toMatchObject({ list, ...counts, writable: true, last_accepted_at: `${today}T00:00:00.000Z` })
  // Other programs may use the disk meanwhile.
  const { bavail, bsize } = statfsSync(folder)
  expect(status.free_bytes / (bavail * bsize)).toBeWithin(0.5, 2)
  const readNumber = (name: string) =>
    Number(lines.find((line) => line.startsWith(name.padEnd(12)))?.replace(/\D/g, ''))
  expect((readNumber('free') * 2 ** 20) / (bavail * bsize)).toBeWithin(0.5, 2)
  expect(readNumber('size')).toBe(Math.ceil(status.bytes / 1024))
  expect(days).toHaveLength(91)
  expect(days.slice(-2)).toEqual([expect.objectContaining({ added: 0, total: 1 }), { date: today, added: 2, total: 3 }])
})

const toDate = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)

/** How many days ago each subscriber of a list subscribed, or undefined for an import without dates. */
const list = fc.array(fc.option(fc.oneof(fc.nat(35), fc.nat(200)), { nil: undefined }), { minLength: 1, maxLength: 60 })

test.each(fc.sample(list, 4))('text, JSON and picture agree on the day of an import: days ago %#', async (...agos) => {
  await findMidnight()
  const { folder, print } = await createCliFixture()
  await Bun.write(join(folder, 'site.yaml'), 'name: { de: Die <Rundschau> }\nlanguages: [de]\naccent: "#fff3b0"')
  const rows = agos.map((ago, at) => `r${at}@site.io,${ago === undefined ? '' : toDate(ago)}`)
  await print(['import', '-', '--yes'], `email,date\n${rows.join('\n')}\n`)
  await print(['status', '--html', 'list.html'])
  const [text, picture] = [await print(['status']), await Bun.file(join(folder, 'list.html')).text()]
  const { days, subscribers } = JSON.parse(await print(['status', '--json']))
  /** Those who subscribed in a range of days ago. */
  const countOf = (from: number, to = Number.POSITIVE_INFINITY) =>
    agos.filter((ago = 0) => ago >= from && ago <= to).length
  expect(days).toEqual(
    Array.from({ length: 91 }, (_, index) => 90 - index).map((ago) => {
      return { date: toDate(ago), added: countOf(ago, ago), total: countOf(ago) }
    }),
  )
  expect(subscribers).toBe(agos.length)
  for (const [name, value] of [
    ['addresses', `${agos.length}`],
    ['today', `${countOf(0, 0)}`],
    ...[7, 30, 90].map((count) => [`${count} days`, `${countOf(1, count)} before today`] as const),
  ] as const) {
    expect(text).toContain(`\n${name.padEnd(12)}${value}\n`)
  }
  for (const part of [
    '<main><h1 lang="de"><bdi>Die &lt;Rundschau&gt;</bdi></h1>',
    ':root{--fill:#fff3b0;',
    `<b>${countOf(1)}</b> subscribers`,
    `<b>${countOf(1, 7)}</b> in 7 days`,
    `<b>${countOf(1, 30)}</b> in 30 days`,
    ...days.slice(0, -1).map(({ date, added }: { date: string; added: number }) => `<title>${date}: ${added}</title>`),
  ]) {
    expect(picture).toContain(part)
  }
})

test('--html writes a picture of the complete days, which a new subscription does not change', async () => {
  await findMidnight()
  const { folder, print, run } = await createCliFixture()
  const dates = Array.from({ length: 60 }, (_, index) => toDate(index + 1))
  const rows = dates.flatMap((date, day) =>
    Array.from({ length: day === 1 ? 5 : 2 }, (_, row) => `r${day}.${row}@site.io,${date}`),
  )
  await print(['import', '-', '--yes'], `email,date\n${rows.join('\n')}\n`)
  const write = async () => {
    expect(await print(['status', '--html', 'list.html'])).toBe('')
    return await Bun.file(join(folder, 'list.html')).text()
  }
  const before = await write()
  expect(before.length).toBeLessThanOrEqual(15_000)
  expect(before.match(/<rect /g)).toHaveLength(90)
  for (const text of [
    `<title>${toDate(1)}: 2</title>`,
    `<title>${toDate(2)}: 5</title>`,
    `At the end of ${toDate(1)} (UTC)`,
    '<b>17</b> in 7 days',
  ]) {
    expect(before).toContain(text)
  }
  expect(before).not.toMatch(/@site|site\.io|<script|https?:/)
  expect(before).not.toContain(`${toDate(0)}:`)
  await print(['import', '-'], 'email\nnew@site.io\n')
  expect(await write()).toBe(before)
  expect(await run(['status', '--html', 'list.db'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('list.db is a SQLite database'),
  })
})

test('--max-silence sets the exit code', async () => {
  const { print, run } = await createCliFixture()
  const check = () => run(['status', '--max-silence', '7d'])
  await print(['import', '-'], 'email,date\na@site.io,2020-01-01\n')
  const stderr = expect.stringMatching(/^rollcall: the last reader was accepted at 2020-01-01T00:00:00.000Z\n$/)
  expect(await check()).toMatchObject({ code: 1, stderr })
  // The test of an owner or of a monitor is no reader.
  await print(['import', '-'], 'monitor@example.org\n')
  expect(await check()).toMatchObject({ code: 1, stderr })
  await print(['import', '-'], 'b@site.io\n')
  expect(await check()).toMatchObject({ code: 0, stderr: '' })
  await print(['remove', 'a@site.io', 'b@site.io'])
  expect(await check()).toMatchObject({ code: 1, stderr: 'rollcall: no reader was ever accepted\n' })
})

test('a date in the future is a fault: with it, --max-silence would never fail', async () => {
  const { folder, print, run } = await createCliFixture()
  await print(['import', '-'], 'a@site.io\n')
  const date = Date.now() + 400 * 86_400_000
  using db = new Database(join(folder, 'list.db'))
  db.run('UPDATE subscribers SET subscribed_at = ?', [date])
  const says = `the latest subscription is of ${new Date(date).toISOString()}, in the future: set the clock`
  for (const args of [['status'], ['status', '--json'], ['status', '--max-silence', '7d']]) {
    const found = await run(args)
    expect([args, found.code, found.stderr]).toEqual([args, 1, expect.stringContaining(`rollcall: ${says}`)])
  }
  const other = `sqlite:${folder}/list.db`
  expect((await run(['status', '--list', other])).stderr).toContain(`run: rollcall export --list ${other} --include`)
  const { code, stdout } = await run(['doctor'])
  expect([code, stdout]).toEqual([1, expect.stringContaining(`\ndates          wrong: ${says}`)])
  const [, command = ''] = /run: rollcall (export .*)/.exec(stdout) ?? []
  expect(await print(command.split(' '))).toContain('a@site.io')
  // Clocks differ a little.
  db.run('UPDATE subscribers SET subscribed_at = ?', [Date.now() + 30_000])
  expect((await run(['status'])).code).toBe(0)
})

test.skipIf(!CAN_MOUNT)('a list on a full disk is not writable, also while a service has it open', async () => {
  const folder = await createFolder()
  mkdirSync(join(folder, 'data'))
  const script = `mount -t tmpfs -o size=2m none data
    "$0" serve 2> log & pid=$!
    until grep -q listening log; do sleep 0.02; done
    dd if=/dev/zero of=data/fill bs=4k 2> /dev/null
    grep -o 'is in memory (tmpfs or ramfs)' log; "$0" doctor | grep -c '^disk .*in memory'
    "$0" healthcheck; grep -o 'the service is not ready' log
    "$0" status | grep writable; "$0" status > /dev/null; echo "exit $?"
    "$0" status --html list.html; grep -o 'The list cannot be written: .*full' list.html
    kill $pid; wait $pid`
  const env = {
    PATH: process.env.PATH,
    ENV_FILE: '/dev/null',
    PORT: '0',
    OPS_PORT: String(findPort()),
    BASE_URL: 'http://127.0.0.1:3000',
  }
  const { stdout, stderr } = Bun.spawnSync([...IN_NAMESPACE, 'bash', '-c', script, PROGRAM], { cwd: folder, env })
  expect(stdout.toString()).toMatch(
    /^is in memory \(tmpfs or ramfs\)\n1\nthe service is not ready\nwritable {4}no: .*the disk is full.*\nexit 1\nThe list cannot be written: .*the disk is full\n$/,
  )
  expect(stderr.toString()).toContain('503, the store fails')
  expect(stderr.toString()).toContain('the disk is full')
})
