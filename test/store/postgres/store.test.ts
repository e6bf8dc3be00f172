/** The PostgreSQL list, held to the suite, in one process and in several. */

import { parseListUrl } from '../../../src/config/list-url.ts'
import { openStore } from '../../../src/store/open.ts'
import { getServer } from '../../support/postgres.ts'
import { testProcesses } from '../../support/store-processes.ts'
import { describeStore } from '../../support/store-suite.ts'

describeStore('postgres', async () => {
  const server = await getServer()
  return {
    async create() {
      const url = await server.createUrl()
      return { open: () => openStore(parseListUrl('URL', url)) }
    },
    async remove() {},
  }
})

testProcesses('postgres', async () => (await getServer()).createUrl())
