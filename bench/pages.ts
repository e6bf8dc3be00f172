/** Reads pages of 5,000 subscribers behind random cursors of a list, and prints the median time in milliseconds. */

import { parseListUrl } from '../src/config/list-url.ts'
import { openStore } from '../src/store/open.ts'
import { toFigure } from './figures.ts'
import { LARGE } from './postgres.ts'

const PAGE = 5_000
const PAGES = 200
const WARM_UP = 20

const store = await openStore(parseListUrl('DATABASE_URL', process.env.DATABASE_URL ?? ''))
const times: number[] = []
for (let page = 0; page < WARM_UP + PAGES; page++) {
  const after = Math.floor(Math.random() * (LARGE - PAGE))
  const start = performance.now()
  const { value } = await store.list({ after, limit: PAGE })[Symbol.asyncIterator]().next()
  if (value?.length !== PAGE) throw new Error(`a page has ${value?.length} subscribers`)
  if (page >= WARM_UP) times.push(performance.now() - start)
}
console.log(toFigure(times).median)
await store.close()
