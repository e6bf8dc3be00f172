import type { Language } from '../config/languages.ts'
import type { Locale } from './locale.ts'
import { ar } from './locales/ar.ts'
import { de } from './locales/de.ts'
import { en } from './locales/en.ts'
import { es } from './locales/es.ts'
import { fr } from './locales/fr.ts'
import { it } from './locales/it.ts'
import { ja } from './locales/ja.ts'
import { nl } from './locales/nl.ts'
import { pl } from './locales/pl.ts'
import { ptBR } from './locales/pt-BR.ts'
import { uk } from './locales/uk.ts'
import { zhHans } from './locales/zh-Hans.ts'

/** The phrases of the page in every language. */
export const LOCALES: Readonly<Record<Language, Locale>> = {
  en,
  de,
  fr,
  es,
  'pt-BR': ptBR,
  it,
  nl,
  pl,
  uk,
  ar,
  ja,
  'zh-Hans': zhHans,
}
