/** What the benchmark measures of a contender. */

export const METRICS = [
  // Requests per second; of a command, addresses per second. Includes the time of deferred work.
  'rate',
  // CPU of the server per request in microseconds, deferred work included.
  'cpu',
  // Peak of the resident memory, in MiB.
  'memory',
  // Median and 99th percentile of the latency, in milliseconds from when a request was due to its response.
  'p50',
  'p99',
  // Milliseconds from the start of the process to its first response.
  'start',
  // Milliseconds of a command from its start to its end, or of a page.
  'time',
] as const

export type Metric = (typeof METRICS)[number]

/** The result of one run. The kind of trial decides which metrics it has. */
export type Sample = Readonly<Partial<Record<Metric, number>>>
