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
  en: { date: '2026-11-22', hash: '12cd183650dd' },
  de: { date: '2026-11-22', hash: '386f081c2e35' },
  es: { date: '2026-11-22', hash: '51164c47a87e' },
  fr: { date: '2026-11-22', hash: 'b057b8d2b443' },
  it: { date: '2026-11-22', hash: '6b268e56f4eb' },
  nl: { date: '2026-11-22', hash: '4250aa7bf40d' },
  pl: { date: '2026-11-22', hash: 'fb0c5a2cd03a' },
  'pt-BR': { date: '2026-11-22', hash: '80667ab36ffc' },
  uk: { date: '2026-11-22', hash: 'd11e676a1ba9' },
  ar: { date: '2026-11-22', hash: '04c9315bf43f' },
  ja: { date: '2026-11-22', hash: 'e17c23af1000' },
  'zh-Hans': { date: '2026-11-22', hash: '113586f0a764' },
} satisfies Readonly<Record<keyof typeof LOCALES, { date: string; hash: string }>>
