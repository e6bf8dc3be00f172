/** The writer thread ends unexpectedly: the process ends with exit code 1, and no confirmed address is lost. */

import { expect, test } from 'bun:test'
import { createLedger, expectKept, post } from '../../support/load.ts'
import { createFolder, PRELOADED, startService } from '../../support/service.ts'
import { until } from '../../support/wait.ts'

test('the thread ends under load, again and again', async () => {
  const folder = await createFolder()
  const ledger = createLedger()
  for (let end = 1; end <= 3; end++) {
    const service = await startService({ folder, env: PRELOADED })
    const goal = ledger.answered + 500
    const load = post(service, ledger)
    await until(() => ledger.answered >= goal)
    service.process.kill('SIGUSR2')
    expect(await service.process.exited).toBe(1)
    await load
    expect(service.log().match(/"level":50/g)).toHaveLength(1)
    expect(service.log()).toContain('the writer thread has ended, so the service ends')
  }
  await expectKept(folder, ledger)
})
