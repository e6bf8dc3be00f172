/** The few statistics that trials need. */

/** The value in the middle; 0 for none. */
export function median(values: readonly number[]): number {
  return Float64Array.from(values).sort()[Math.floor(values.length / 2)] ?? 0
}

/**
 * How much values grow from the first to the last, by the Theil-Sen estimator: the median of the slopes between all
 * pairs, which a few outliers do not change (Sen, JASA 63, 1968).
 */
export function growthOf(values: readonly number[]): number {
  const slopes = values.flatMap((value, index) =>
    values.slice(index + 1).map((later, distance) => (later - value) / (distance + 1)),
  )
  return slopes.length === 0 ? 0 : median(slopes) * (values.length - 1)
}

/**
 * The area under the ROC curve, from the rank sum (Hanley and McNeil, Radiology 143, 1982). Ties share their rank.
 *
 * @returns the probability that a value of the second list is larger than one of the first, 0.5 when nobody can tell, and
 *   its standard error when both lists come from one distribution
 */
export function compareSamples(first: readonly number[], second: readonly number[]) {
  const all = [
    ...first.map((value) => ({ value, isSecond: false })),
    ...second.map((value) => ({ value, isSecond: true })),
  ].sort((one, other) => one.value - other.value)
  let rankSum = 0
  for (let start = 0; start < all.length; ) {
    let end = start
    while (end < all.length && all[end]?.value === all[start]?.value) end++
    const rank = (start + end + 1) / 2
    for (let index = start; index < end; index++) if (all[index]?.isSecond) rankSum += rank
    start = end
  }
  const [n, m] = [first.length, second.length]
  const auc = (rankSum - (m * (m + 1)) / 2) / (n * m)
  return { auc, error: Math.sqrt((n + m + 1) / (12 * n * m)) }
}
