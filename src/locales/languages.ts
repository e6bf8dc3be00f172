/** All languages, by BCP 47 tag. Written by `npm run locales` from the files of this folder. */

import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import type { Locale } from './locale.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { ptBR } from './pt-BR.ts'
import { uk } from './uk.ts'
import { zhHans } from './zh-Hans.ts'

/** The phrases of the page. English is the first, the others are in the order of their own names. */
export const LOCALES = {
  en,
  de,
  es,
  fr,
  it,
  nl,
  pl,
  'pt-BR': ptBR,
  uk,
  ar,
  ja,
  'zh-Hans': zhHans,
} satisfies Readonly<Record<string, Locale>>

/** The last change of the phrases: its UTC date, which is the lastmod of the page, and a hash of the phrases. */
export const CHANGES = {
  en: { date: '2026-11-21', hash: '7066507a2612' },
  de: { date: '2026-11-21', hash: '82ee2f01235f' },
  es: { date: '2026-11-21', hash: '5683d0bdfdda' },
  fr: { date: '2026-11-21', hash: '9ce6d9c8fbea' },
  it: { date: '2026-11-21', hash: 'b340f20c53b2' },
  nl: { date: '2026-11-21', hash: '26187dae7ae5' },
  pl: { date: '2026-11-21', hash: '30e96faff21f' },
  'pt-BR': { date: '2026-11-21', hash: '0f411a73adae' },
  uk: { date: '2026-11-21', hash: '6d2ab1660f8e' },
  ar: { date: '2026-11-21', hash: '5907dc0c2372' },
  ja: { date: '2026-11-21', hash: '4d9fdf4bb826' },
  'zh-Hans': { date: '2026-11-21', hash: '733255837775' },
} satisfies Readonly<Record<keyof typeof LOCALES, { date: string; hash: string }>>
