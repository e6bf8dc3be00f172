/**
 * The limits and deadlines that clients or the owner notice. Some depend on others: the service must give up a body and the store
 * before the runtime closes the connection. Sizes that only tune an algorithm are next to it.
 */

/** Maximum length of an address in characters, after trimming: RFC 5321 section 4.5.3.1.3, without the angle brackets. */
export const MAX_ADDRESS_LENGTH = 254

/** Maximum length of the local part in characters: RFC 5321 section 4.5.3.1.1. */
export const MAX_LOCAL_PART_LENGTH = 64

/** Maximum length in characters of the part of an invalid address that is read for the hint, and that the page shows again. */
export const MAX_EXPLAINED_LENGTH = 1_000

/** Maximum size of a request body in bytes. */
export const MAX_BODY_BYTES = 16 * 1024

/** Maximum size in bytes of a body that no response needs. It is read and discarded; after a larger one, the connection closes. */
export const MAX_DISCARDED_BYTES = 1024 * 1024

/**
 * Maximum length in characters of Accept, Accept-Encoding and If-None-Match. A longer one is treated as missing: the client gets the
 * whole document in its usual form, which RFC 9110 allows. Browsers send less than 200 characters.
 */
export const MAX_LIST_FIELD_LENGTH = 512

/** Maximum length in characters of a Host field: a name of 253 and a dot (RFC 1035 section 2.3.4), a colon and a port. */
export const MAX_HOST_LENGTH = 260

/** Milliseconds in which a request body must arrive. */
export const BODY_DEADLINE_MS = 10_000

/** Milliseconds from the last byte of a request to the last byte of its response. */
export const STORE_DEADLINE_MS = 5_000

/** Milliseconds after which an address is given up. The rest is for the response, also on a busy machine. */
export const GIVE_UP_MS = STORE_DEADLINE_MS - 500

/** Milliseconds for which `healthcheck` and `doctor` wait for an answer: longer than the service waits for its store. */
export const HEALTH_DEADLINE_MS = STORE_DEADLINE_MS + 1_000

/** Milliseconds for which the page waits for a response: longer than the service takes for any. */
export const RESPONSE_TIMEOUT_MS = BODY_DEADLINE_MS + STORE_DEADLINE_MS + 5_000

/** Milliseconds for which a command that has opened a SQLite list waits for its write lock. */
export const LOCK_TIMEOUT_MS = 30_000

/** Subscribers in a batch that `export --follow --exec` hands to a command, unless `--batch` says otherwise. */
export const HAND_OVER_BATCH = 500

/** Milliseconds until a failed batch is handed over again: twice as long after each failure, up to the maximum. */
export const RETRY_DELAY_MS = { first: 1_000, maximum: 60_000 } as const

/** Maximum sizes of pictures in bytes. Every first visit of the page loads the logo and the portrait. */
export const MAX_PICTURE_BYTES = { logo: 64 * 1024, portrait: 64 * 1024, card: 512 * 1024 } as const

/** Maximum size in bytes of a file that an import reads into memory. */
export const MAX_IMPORT_BYTES = 512 * 1024 * 1024

/** Seconds until the runtime closes an idle connection. They also pass while a body arrives and while the store works. */
export const IDLE_TIMEOUT_S = (2 * (BODY_DEADLINE_MS + STORE_DEADLINE_MS)) / 1000

/** Bytes that should be free on the disk of a SQLite list: four times the log that it keeps after a burst (LOG_BYTES). */
export const MIN_FREE_BYTES = 256 * 1024 * 1024

/** Milliseconds that stopping the service may take, from the signal to the exit. */
export const STOP_DEADLINE_MS = 10_000

/** The latest end of each phase of a stop, in milliseconds after the signal. The time after `store` is for the exit. */
export const STOP_PHASE_ENDS_MS = {
  announce: 300,
  // Only a body of a few packets is on its way. A client that sends slower must not delay a restart.
  bodies: 1_000,
  requests: STOP_DEADLINE_MS - 2_000,
  store: STOP_DEADLINE_MS - 500,
} as const
