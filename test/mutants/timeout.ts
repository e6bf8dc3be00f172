/** Loaded into the tests of a broken copy: a test that waits in vain ends soon. The limit of a test is in MUTANTS_TIMEOUT_MS. */

import { setDefaultTimeout } from 'bun:test'

setDefaultTimeout(Number(process.env.MUTANTS_TIMEOUT_MS))
