/** A read-only resource. Its bytes are built at startup. */
export interface Document {
  /** The path below BASE_URL. */
  readonly path: string
  readonly mediaType: string
  readonly body: string | Uint8Array
  /** Additional headers. They override the headers that all documents have. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A document whose text depends on the date. Its bytes are built once a day. */
export interface DailyDocument extends Omit<Document, 'body'> {
  /** Builds the text for a day, given as YYYY-MM-DD (UTC). */
  readonly write: (today: string) => string
}
