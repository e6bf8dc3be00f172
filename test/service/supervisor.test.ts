/** What the service tells systemd, and when. */

import { expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openNotifySocket } from '../support/notify-socket.ts'
import { createFolder, startService } from '../support/service.ts'
import { until } from '../support/wait.ts'

test.each(['a path', 'the abstract namespace'])(
  'systemd hears of the start, the watchdog and the stop: %s',
  async (kind) => {
    const folder = await createFolder()
    onTestFinished(() => rm(folder, { recursive: true }))
    const path = kind === 'a path' ? join(folder, 'notify') : `@${folder}`
    const socket = openNotifySocket(path)
    onTestFinished(() => socket.close())

    const service = await startService({ env: { NOTIFY_SOCKET: path, WATCHDOG_USEC: '200000' } })
    await until(() => socket.read().includes('WATCHDOG=1'), 'WATCHDOG=1')
    expect(socket.read()[0]).toBe('READY=1')
    expect((await service.subscribe('ada@example.org')).status).toBe(200)

    // A stopped process sends nothing, so systemd would end it.
    service.process.kill('SIGSTOP')
    await Bun.sleep(150)
    const { length } = socket.read()
    await Bun.sleep(300)
    expect(socket.read().length).toBe(length)
    service.process.kill('SIGCONT')

    expect(await service.stop()).toBe(0)
    expect(socket.read()).toContain('STOPPING=1')
  },
)

test('without a watchdog, systemd hears of the start and the stop only', async () => {
  const socket = openNotifySocket(`@rollcall-test-${process.pid}`)
  onTestFinished(() => socket.close())
  const service = await startService({ env: { NOTIFY_SOCKET: `@rollcall-test-${process.pid}` } })
  await until(() => socket.read().length > 0, 'READY=1')
  expect(await service.stop()).toBe(0)
  expect(socket.read()).toEqual(['READY=1', 'STOPPING=1'])
})

test('a socket that nobody reads does not stop the service', async () => {
  const service = await startService({ env: { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '1000' } })
  expect((await service.subscribe('ada@example.org')).status).toBe(200)
  expect(await service.stop()).toBe(0)
})
