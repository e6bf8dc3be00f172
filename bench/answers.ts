/** What a reader wants to know first: each question with the figure that answers it. */

import type { Comparison } from './trials.ts'

export interface Answer extends Comparison {
  /** The words of the reader. */
  readonly question: string
  readonly trial: string
  /** Comes after the figure. */
  readonly unit: string
}

export const ANSWERS: readonly Answer[] = [
  { question: 'One sign-up: 99 of 100 get their response within', trial: 'one', metric: 'p99', unit: ' ms' },
  { question: 'A burst of sign-ups, on 64 connections', trial: 'new', metric: 'rate', unit: ' per second' },
  { question: 'The same with ten million addresses on the list', trial: 'large', metric: 'rate', unit: ' per second' },
  { question: 'The most memory, after 30 s of such a burst', trial: 'long', metric: 'memory', unit: ' MiB' },
  { question: 'A start, to the first response', trial: 'start', metric: 'start', unit: ' ms' },
  { question: 'Import a million addresses', trial: 'import', metric: 'time', unit: ' s' },
  { question: 'Import a million into a list of ten million', trial: 'import-large', metric: 'time', unit: ' s' },
  { question: 'Back up two million addresses', trial: 'backup', metric: 'time', unit: ' s' },
  { question: 'Count ten million addresses', trial: 'count', metric: 'time', unit: ' s' },
  { question: 'A burst with PostgreSQL', trial: 'postgres', metric: 'rate', unit: ' per second' },
]
