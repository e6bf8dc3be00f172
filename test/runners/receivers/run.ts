/**
 * `npm run test:only -- receivers`: round trips with a real Ghost from npm, and with Mailman and mlmmj of Debian. New people arrive
 * once, who leaves there is suppressed here within one run, who comes back stays, refused people do not stop others, and a kill at
 * any point loses nobody and adds nobody twice.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../support/paths.ts'
import { type CommandResult, type RunningService, runCommand, startService } from '../../support/service.ts'
import { createFolder } from '../../support/workspace.ts'
import { type Ghost, installGhost, startGhost } from './ghost.ts'

const SYNC = join(ROOT, 'deploy/recipes/sync')

/** Addresses that mean something to a shell, to a filter, to a mailbox or to a file system. */
const ODD = [
  `|touch\${IFS}ran@site.io`,
  '`touch`@site.io',
  "o'brien@site.io",
  '#tag@site.io',
  '/x/y@site.io',
  '{a}@site.io',
]

/** Seeds the random moments of kills, so that a failure can be repeated. */
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)

/** A service with a list, and the settings of a recipe in its folder. */
async function createTrips(name: string, settings: object) {
  const service: RunningService = await startService({ env: { BASE_URL: 'https://list.example.org' } })
  const { folder } = service
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(settings))
  const rollcall = (...args: string[]) => runCommand(args, { folder })

  /** Subscribes on the form. */
  async function subscribe(...emails: readonly string[]): Promise<void> {
    for (const email of emails) expect((await service.subscribe(email)).status).toBe(200)
  }

  const sync = (): Promise<CommandResult> => runCommand([name], { folder, program: [SYNC] })

  /** Runs `sync` again and again, kills each run at a random moment, and lets the last one end. */
  async function syncWithKills(kills: number, mostMs: number): Promise<void> {
    let state = SEED
    for (let run = 0; run < kills; run++) {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      const child = Bun.spawn([SYNC, name], {
        cwd: folder,
        env: { ...process.env, ENV_FILE: '/dev/null' },
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await Promise.race([child.exited, Bun.sleep(state % mostMs)])
      if (child.exitCode === null) process.kill(-child.pid, 'SIGKILL')
      await child.exited
    }
    // A command that was running ends its batch, and holds nothing that the next run needs.
    expect(await sync()).toMatchObject({ code: 0 })
  }

  async function list(): Promise<readonly string[]> {
    const { stdout } = await rollcall('export', '--format', 'txt')
    return stdout.split('\n').filter(Boolean)
  }

  const read = (file: string) => {
    try {
      return readFileSync(join(folder, `${name}.${file}`), 'utf8')
        .split('\n')
        .filter(Boolean)
    } catch {
      return []
    }
  }
  return { folder, service, subscribe, sync, syncWithKills, list, read, rollcall }
}

describe('Ghost', () => {
  let ghost: Ghost
  beforeAll(async () => {
    await installGhost()
    ghost = await startGhost()
  })
  afterAll(async () => await ghost?.stop())

  const emailsOf = async () => (await ghost.list()).map(({ email }) => email)

  test('round trips', async () => {
    const { service, subscribe, sync, syncWithKills, list, read, rollcall } = await createTrips('ghost', ghost.settings)
    // Ghost takes at most 191 characters.
    const long = `${'x'.repeat(60)}@${'y'.repeat(60)}.${'z'.repeat(60)}.${'w'.repeat(20)}.io`
    await subscribe('ada@site.io', 'bob@site.io', long, ...ODD, 'cyd@site.io')
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining(' added, 1 refused\n') })
    expect((await emailsOf()).toSorted()).toEqual(['ada@site.io', 'bob@site.io', 'cyd@site.io', ...ODD].toSorted())
    expect(read('refused')).toEqual([expect.stringContaining(`${long}\t`)])
    for (const { newsletters } of await ghost.list()) expect(newsletters).toHaveLength(1)

    await ghost.leave('ada@site.io')
    await ghost.leave("o'brien@site.io")
    ghost.bounce('bob@site.io')
    await subscribe('dan@site.io')
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('(3 removed from the list)\n') })
    const left = ['ada@site.io', "o'brien@site.io", 'bob@site.io']
    expect((await list()).filter((email) => left.includes(email))).toEqual([])
    expect(await emailsOf()).toContain('dan@site.io')

    // Ada comes back. The tool keeps her away until it has asked her, and she stays here.
    await subscribe('ada@site.io')
    for (let runs = 0; runs < 3; runs++) expect(await sync()).toMatchObject({ code: 0 })
    expect([await list(), read('left')]).toEqual([expect.arrayContaining(['ada@site.io']), ['ada@site.io']])
    await ghost.comeBack('ada@site.io')
    expect(await sync()).toMatchObject({ code: 0 })
    expect(read('left')).toEqual([])
    await ghost.leave('ada@site.io')
    expect(await sync()).toMatchObject({ code: 0 })
    expect(await list()).not.toContain('ada@site.io')

    const many = Array.from({ length: 60 }, (_, index) => `p${index}@site.io`)
    await subscribe(...many)
    await ghost.leave('cyd@site.io')
    await syncWithKills(12, 2_500)
    const there = await emailsOf()
    expect(there.filter((email) => /^p\d/.test(email)).toSorted()).toEqual(many.toSorted())
    expect(await list()).toEqual(expect.arrayContaining(many))
    expect(await list()).not.toContain('cyd@site.io')
    expect(read('left')).toEqual([])

    ghost.setOptIn(false)
    await subscribe('eve@site.io')
    const message = 'ghost: no newsletter of Ghost takes new members'
    expect(await sync()).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
    expect(await emailsOf()).not.toContain('eve@site.io')
    expect((await rollcall('doctor')).stdout).toMatch(/^cursor +ok: .*ghost\.cursor: .*; 1 subscriber waiting/m)
    ghost.setOptIn(true)
    expect(await sync()).toMatchObject({ code: 0 })
    expect(await emailsOf()).toContain('eve@site.io')
    await service.stop()
  })
})

/** A program that knows only members: its commands, and whom it refuses of the odd addresses. */
interface Program {
  readonly add: string
  readonly list: string
  readonly remove: (email: string) => string
  readonly refused: readonly string[]
}

async function createMailman(): Promise<Program> {
  const folder = await createFolder()
  const config = join(folder, 'mailman.cfg')
  writeFileSync(
    config,
    `[mailman]\nlayout: here\nsite_owner: owner@lists.local\n[paths.here]\nvar_dir: ${folder}/var\n` +
      `[database]\nurl: sqlite:///${folder}/mailman.db\n[mta]\nincoming: mailman.mta.null.NullMTA\n`,
  )
  const mailman = `mailman -C ${config} ${process.getuid?.() === 0 ? '--run-as-root' : ''}`
  run(`${mailman} create news@lists.local`)
  return {
    add: `${mailman} addmembers - news@lists.local`,
    list: `${mailman} members news@lists.local`,
    remove: (email) => `printf '%s\\n' "${email}" | ${mailman} delmembers --file - --list news@lists.local`,
    // A comment, and what it cannot parse. It exits with 0.
    refused: ['#tag@site.io', `|touch\${IFS}ran@site.io`],
  }
}

async function createMlmmj(): Promise<Program> {
  const folder = await createFolder()
  for (const name of [
    'incoming',
    'queue/discarded',
    'archive',
    'text',
    'subconf',
    'unsubconf',
    'bounce',
    'control',
    'moderation',
    'subscribers.d',
    'digesters.d',
    'requeue',
    'nomailsubs.d',
  ])
    mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'control/listaddress'), 'news@lists.local\n')
  writeFileSync(join(folder, 'control/owner'), 'owner@lists.local\n')
  return {
    add: `while IFS= read -r a; do /usr/bin/mlmmj-sub -L ${folder} -f -q -s -a "$a"; done`,
    list: `/usr/bin/mlmmj-list -L ${folder}`,
    remove: (email) => `/usr/bin/mlmmj-unsub -L ${folder} -q -s -a "${email}"`,
    // It keeps people in a file with the name of their first character.
    refused: ['/x/y@site.io'],
  }
}

/** Runs a command of the shell, which must succeed. */
function run(command: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-c', command])
  if (exitCode !== 0) throw new Error(`${command} exited with ${exitCode}: ${stdout}${stderr}`)
  return stdout.toString()
}

test.each([
  ['Mailman', createMailman],
  ['mlmmj', createMlmmj],
])('round trips with %s', async (_name, create) => {
  const program = await create()
  const { service, subscribe, sync, syncWithKills, list, read } = await createTrips('members', program)
  const members = () =>
    run(program.list)
      .trim()
      .split('\n')
      .map((email) => email.toLowerCase())
  await subscribe('ada@site.io', 'bob@site.io', ...ODD, 'cyd@site.io')
  expect(await sync()).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`, ${program.refused.length} refused\n`),
  })
  const taken = ODD.filter((email) => !program.refused.includes(email)).map((email) => email.toLowerCase())
  expect(members().toSorted()).toEqual(['ada@site.io', 'bob@site.io', 'cyd@site.io', ...taken].toSorted())
  expect(read('refused').map((line) => line.split('\t')[0])).toEqual(
    [...ODD].filter((email) => program.refused.includes(email)),
  )

  run(program.remove('ada@site.io'))
  await subscribe('dan@site.io')
  expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining('(1 removed from the list)\n') })
  expect([(await list()).includes('ada@site.io'), members().includes('dan@site.io')]).toEqual([false, true])
  // Whoever is refused has not left.
  expect(await list()).toEqual(expect.arrayContaining([...ODD]))

  await subscribe('ada@site.io')
  for (let runs = 0; runs < 2; runs++) expect(await sync()).toMatchObject({ code: 0 })
  expect([(await list()).includes('ada@site.io'), members().includes('ada@site.io')]).toEqual([true, true])

  const many = Array.from({ length: 20 }, (_, index) => `p${index}@site.io`)
  await subscribe(...many)
  run(program.remove('bob@site.io'))
  await syncWithKills(4, 8_000)
  expect(
    members()
      .filter((email) => /^p\d/.test(email))
      .toSorted(),
  ).toEqual(many.toSorted())
  expect((await list()).filter((email) => /^(?:p\d|bob)/.test(email)).toSorted()).toEqual(many.toSorted())
  await service.stop()
})
