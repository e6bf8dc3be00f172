/** The languages of the page, by BCP 47 tag: the language's own name, and the direction of its script. */
export const LANGUAGES = {
  en: { name: 'English', direction: 'ltr' },
  de: { name: 'Deutsch', direction: 'ltr' },
  fr: { name: 'Français', direction: 'ltr' },
  es: { name: 'Español', direction: 'ltr' },
  'pt-BR': { name: 'Português (Brasil)', direction: 'ltr' },
  it: { name: 'Italiano', direction: 'ltr' },
  nl: { name: 'Nederlands', direction: 'ltr' },
  pl: { name: 'Polski', direction: 'ltr' },
  uk: { name: 'Українська', direction: 'ltr' },
  ar: { name: 'العربية', direction: 'rtl' },
  ja: { name: '日本語', direction: 'ltr' },
  'zh-Hans': { name: '简体中文', direction: 'ltr' },
} as const satisfies Record<string, { name: string; direction: 'ltr' | 'rtl' }>

export type Language = keyof typeof LANGUAGES

/** All tags, in the default order. */
export const LANGUAGE_TAGS = Object.freeze(Object.keys(LANGUAGES) as [Language, ...Language[]])

/** Returns the path of the page in a language. The first language of the site is the default, at `/`. */
export function toPagePath(language: Language, languages: readonly Language[]): string {
  return language === languages[0] ? '/' : `/${language}`
}
