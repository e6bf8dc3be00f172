/** What the script needs of a browser beyond its own syntax. Old browsers, and browsers inside of apps, lack some of it. */

/**
 * The newest functions that the script calls: where each one is, and its name. The versions are those that had it first, of Chrome,
 * Safari and Firefox. Everything else that the script calls is in Chrome 80, Safari 13.1 and Firefox 74, which are the first
 * that can read its syntax; test/page/engines.yaml has the list.
 */
const NEEDED: readonly (readonly [owner: object, name: string])[] = [
  // 103, 16, 100
  [AbortSignal, 'timeout'],
  // 86, 14, 78
  [Element.prototype, 'replaceChildren'],
  // 85, 13.1, 77
  [String.prototype, 'replaceAll'],
  // 76, 16, 75
  [HTMLFormElement.prototype, 'requestSubmit'],
  // 74, 14, 75
  [Intl, 'Locale'],
]

/** Whether the browser has everything that the script calls. Without it, the page must stay as it is: the plain form works. */
export const hasNeeded = () => NEEDED.every(([owner, name]) => name in owner)
