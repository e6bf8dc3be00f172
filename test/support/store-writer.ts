/** Adds addresses to a list and prints those that were confirmed: `bun store-writer.ts URL SEED ROUNDS`. */

import { parseListUrl } from '../../src/config/list-url.ts'
import { openStore } from '../../src/store/open.ts'
import { toAddress } from './store-suite.ts'

const [url = '', seed = '1', rounds = '100'] = process.argv.slice(2)
const store = await openStore(parseListUrl('URL', url))
let state = Number(seed) * 7919

for (let round = 0; round < Number(rounds); round++) {
  const batch = Array.from({ length: 1 + random(40) }, () => {
    const text = `user${random(4000)}@mail.io`
    return toAddress(random(3) > 0 ? text : text.toUpperCase())
  })
  await store.add(batch)
  process.stdout.write(`${batch.join(' ')}\n`)
  // A read compacts the inbox, so several processes compact at the same time.
  if (round % 10 === 9) await store.lookUp(batch.slice(0, 1))
}
await store.close()

function random(below: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return (state >>> 8) % below
}
