/** What the benchmark measures of a contender. */

/** What one run of a contender gives; which of them it has depends on the kind of trial. */
export interface Sample {
  /** Requests answered a second; the time that work put off under load took afterwards counts in. */
  readonly rate?: number
  /** CPU of the server for a request, in microseconds, work put off included. */
  readonly cpu?: number
  /** The most resident memory, in MiB. */
  readonly memory?: number
  /** Milliseconds from the moment at which a request was due to its answer. */
  readonly p50?: number
  readonly p99?: number
  /** Milliseconds from the start of the process to its first answer. */
  readonly start?: number
}

export type Metric = keyof Sample
