/** Names and values as they are compared: programs differ in case, blanks and signs. */

/** A name of a column: lower case, only letters and digits. */
export function toPlainName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** A word in a column: lower case, with one blank for blanks, `_` and `-`. */
export function toPlainValue(value: string): string {
  return value
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, ' ')
}
