/** A read-only resource. Its bytes are built once, at the first request. */
export interface Document {
  /** The path below BASE_URL. */
  readonly path: string
  readonly mediaType: string
  readonly body: Content | (() => Content | Promise<Content>)
  /** Additional headers. They override the headers that all documents have. */
  readonly headers?: Readonly<Record<string, string>>
}

type Content = string | Uint8Array

/** A document whose text depends on the date. Its bytes are built once a day. */
export interface DailyDocument extends Omit<Document, 'body'> {
  /** Builds the text for a day, given as YYYY-MM-DD (UTC). */
  readonly write: (today: string) => string
}

/** Returns the content of a document, which may have to be built. */
export async function readContent({ body }: Pick<Document, 'body'>): Promise<Content> {
  return typeof body === 'function' ? await body() : body
}
