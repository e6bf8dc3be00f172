/** Words for the owner: numbers, counts, and texts of the owner in a line. */

/** Quotes a path, or another word of a command, for a shell, if it needs quotes. */
export function quotePath(path: string): string {
  return /^[\w@%+:,./=-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** Such as "1,200". */
export function toNumber(value: number): string {
  return value.toLocaleString('en')
}

/** A number with its noun, such as "1 row" and "1,200 rows". */
export function toCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${toNumber(count)} ${count === 1 ? noun : plural}`
}

/** Most characters of a text of the owner that are shown. */
const MAX_TEXT = 60

/** Most parts of a list that are shown. */
const MAX_SHOWN = 5

/** Shortens a text of a file. */
export const shorten = (text: string) => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** Shortens a text of a file, and quotes it. */
export const quote = (text: string) => JSON.stringify(shorten(text))

/** Joins what is shown of a list: `a, b and 3 more`. */
export function join(texts: readonly string[], separator = ', '): string {
  const more = texts.length - MAX_SHOWN
  return texts.slice(0, MAX_SHOWN).join(separator) + (more > 0 ? ` and ${toNumber(more)} more` : '')
}
