/** The suite of all stores, on the server that `run.ts` has chosen. */

import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { getServer } from '../support/postgres.ts'
import { testProcesses } from '../support/store-processes.ts'
import { describeStore } from '../support/store-suite.ts'

const server = await getServer()
const name = process.env.TEST_POSTGRES ?? 'postgres'

describeStore(name, async () => ({
  async create() {
    const url = await server.createUrl()
    return { open: () => openStore(parseListUrl('URL', url)) }
  },
  async remove() {},
}))

testProcesses(name, () => server.createUrl())
