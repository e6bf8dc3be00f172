/** Cuts a stream of pages anew, into batches of a size. */

/** All but the last batch are of the size; no batch is empty. */
export async function* toBatches<T>(
  pages: AsyncIterable<readonly T[]>,
  size: number,
): AsyncGenerator<readonly T[]> {
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
