/** The SQLite store passes the suite, in one process and in several. */

import { join } from 'node:path'
import { createFolder } from '../../support/workspace.ts'
import { testProcesses } from '../processes.ts'
import { describeStore } from '../suite.ts'

const folder = await createFolder()

let lists = 0
const createUrl = async () => `sqlite:${join(folder, `${++lists}.db`)}`

describeStore('sqlite', createUrl)
testProcesses('sqlite', createUrl)
