/** The suite of all stores, on the server that `run.ts` has chosen. */

import { setDefaultTimeout } from 'bun:test'
import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { getServer } from '../support/postgres.ts'
import { testProcesses } from '../support/store-processes.ts'
import { describeStore } from '../support/store-suite.ts'

// Each list on Citus is a database on three nodes, which takes seconds to create.
setDefaultTimeout(300_000)
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
