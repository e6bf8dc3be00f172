/** The script of the languages: offers that of the browser, and closes their list. */

export function startLanguages(): void {
  offerLanguage()
  // The list of languages is over the page, so it closes when the reader is elsewhere.
  const list = document.querySelector<HTMLDetailsElement>('nav details')
  for (const type of ['click', 'focusin']) {
    document.addEventListener(type, ({ target }) => {
      if (!list?.contains(target as Node)) list?.removeAttribute('open')
    })
  }
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !list?.open) return
    list.open = false
    list.querySelector('summary')?.focus()
  })
}

/** Offers the page in the first language of the browser that the site has, unless it is in that language already. */
function offerLanguage(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('nav li a')]
  const find = (wanted: string) => links.find(({ hreflang }) => toScript(hreflang) === toScript(wanted))
  const link = navigator.languages.map(find).find(Boolean)
  if (!link || link.hasAttribute('aria-current')) return
  const header = document.createElement('header')
  header.append(link.cloneNode(true))
  document.body.prepend(header)
}

/** Returns a language with its script: `zh-TW` differs from `zh-Hans`, `pt` does not from `pt-BR`. Undefined if it is no tag. */
function toScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize()
    return `${language}-${script}`
  } catch {
    return undefined
  }
}
