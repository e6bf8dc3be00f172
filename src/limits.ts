/**
 * Limits and deadlines that a caller or the owner can meet. They are in one place because some depend on others:
 * the body and the store must both be given up before the runtime cuts the connection.
 *
 * Sizes that only tune an algorithm, such as rows in a page, are next to that algorithm.
 */

/** Longest address in characters, after trimming: RFC 5321 section 4.5.3.1.3, less the angle brackets. */
export const MAX_ADDRESS_LENGTH = 254

/** Longest local part of an address in characters: RFC 5321 section 4.5.3.1.1. */
export const MAX_LOCAL_PART_LENGTH = 64

/** Most bytes in a request body. */
export const MAX_BODY_BYTES = 16 * 1024

/** Milliseconds in which a request body must arrive. */
export const BODY_DEADLINE_MS = 10_000

/** Milliseconds in which the store must confirm an address. */
export const STORE_DEADLINE_MS = 5_000

/** Seconds until the runtime closes a silent connection. Its clock also runs while a body arrives and while the store works. */
export const IDLE_TIMEOUT_S = (2 * (BODY_DEADLINE_MS + STORE_DEADLINE_MS)) / 1000

/** Milliseconds that stopping the service may take, from the signal to the exit. */
export const STOP_DEADLINE_MS = 10_000

/**
 * When each phase of a stop ends at the latest, in milliseconds after the signal. An address whose body arrives
 * just before `bodies` has the whole deadline of the store before `connections`. The time after `store` is for the exit.
 */
export const STOP_PHASE_ENDS_MS = {
  announce: 300,
  quiet: 2_300,
  bodies: STOP_DEADLINE_MS - STORE_DEADLINE_MS - 2_000,
  connections: STOP_DEADLINE_MS - 1_700,
  store: STOP_DEADLINE_MS - 800,
} as const
