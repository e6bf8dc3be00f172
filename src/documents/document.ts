/** What a document is: a resource whose bytes are known at startup, or once a day. */

/** A read-only resource as it is published. */
export interface Document {
  /** Its path under BASE_URL. */
  readonly path: string
  readonly mediaType: string
  readonly body: string | Uint8Array
  /** Headers of its own. Those of every document do not override them. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A document whose text depends on the date. */
export interface DailyDocument extends Omit<Document, 'body'> {
  /** Writes its text for a day, given as YYYY-MM-DD (UTC). */
  readonly write: (today: string) => string
}
