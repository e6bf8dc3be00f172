/** Environment variables. An empty value counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>
