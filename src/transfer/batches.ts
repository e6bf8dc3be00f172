/** Regroups a stream of pages into batches of `size` rows. The last batch may be smaller; none is empty. */
export async function* toBatches<T>(pages: AsyncIterable<readonly T[]>, size: number): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const page of pages) {
    for (const row of page) {
      batch.push(row)
      if (batch.length < size) continue
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
