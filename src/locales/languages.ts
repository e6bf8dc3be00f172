/** All languages. Each is imported by name: an executable has only the files that its bundler finds so. */

import { ar } from './ar.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { ptBR } from './pt-BR.ts'
import { uk } from './uk.ts'
import { zhHans } from './zh-Hans.ts'

/** The phrases of the page, by BCP 47 tag. English is the first, the others are in the order of their own names. */
export const LOCALES = { en, de, es, fr, it, nl, pl, 'pt-BR': ptBR, uk, ar, ja, 'zh-Hans': zhHans } as const

/** The UTC date of the last change of a phrase: the `lastmod` of the page in the sitemap. */
export const PHRASES_CHANGED = '2026-11-28'
