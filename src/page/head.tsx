/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Site } from '../config/site-file.ts'
import { type Language, type Texts, toTexts } from '../config/texts.ts'
import type { IndexedPage } from '../documents/sitemap.ts'
import { PHRASES_CHANGED } from '../locales/languages.ts'
import type { Outcome } from '../locales/locale.ts'
import { DOCUMENTS, toPagePath } from '../routes.ts'
import type { PageAssets } from './assets.ts'
import { BACKGROUND, isInTitleFont } from './brand.ts'

/** The options that are the same for every language. */
export interface PageOptions {
  readonly site: Site
  readonly baseUrl: string
  readonly assets: Omit<PageAssets, 'documents'>
}

/** Lists the page in each language of the site, for the sitemap. The first language is the default (`x-default`). */
export function listPages(languages: readonly Language[]): IndexedPage[] {
  const versions = languages.map((language) => [language, toPagePath(language, languages)] as const)
  const alternates = { ...Object.fromEntries(versions), 'x-default': '/' }
  return versions.map(([, path]) => ({ path, lastmod: PHRASES_CHANGED, alternates }))
}

/** Builds the head of the page. An outcome comes first in the title, so that screen readers read it first. */
export function createHead(options: PageOptions, language: Language, outcome: Outcome | undefined): JSX.Element {
  const { site, baseUrl, assets } = options
  const texts = toTexts(site, language)
  const { name, description, phrases } = texts
  const toUrl = (other: Language) => baseUrl + toPagePath(other, site.languages)
  return (
    <head>
      <meta charset="utf-8" />
      <title>
        {outcome && outcome !== 'typo' && `${phrases.outcomes[outcome]} · `}
        {name.text} · {phrases.subscribe}
      </title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="description" content={description.text} />
      <meta name="color-scheme" content="light dark" />
      {(['light', 'dark'] as const).map((theme) => (
        <meta key={theme} name="theme-color" media={`(prefers-color-scheme: ${theme})`} content={BACKGROUND[theme]} />
      ))}
      <link rel="stylesheet" href={assets.stylesheet} />
      {assets.font && isInTitleFont(name.text) && (
        <link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href={assets.font} />
      )}
      <link rel="icon" type={assets.icon.mediaType} href={assets.icon.path} />
      <link rel="apple-touch-icon" href={assets.touchIcon} />
      <link rel="canonical" href={toUrl(language)} />
      {site.languages.map((other) => (
        <link key={other} rel="alternate" hreflang={other} href={toUrl(other)} />
      ))}
      <link rel="alternate" hreflang="x-default" href={`${baseUrl}/`} />
      <link rel="service-doc" type="text/markdown" href={DOCUMENTS.llmsTxt.path} />
      <link rel="service-desc" type={DOCUMENTS.openApiJson.mediaType} href={DOCUMENTS.openApiJson.path} />
      {createCard(options, texts, toUrl(language))}
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: createStructuredData(options) }} />
      <script type="module" src={assets.script} />
    </head>
  )
}

/** Builds what other programs show for a link to the page: Open Graph (ogp.me), and the kind of card of X. */
function createCard({ site, baseUrl, assets }: PageOptions, { name, description }: Texts, url: string): JSX.Element {
  const logo = site.logo?.mediaType === 'image/png' ? assets.logo : undefined
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:title" content={name.text} />
      <meta property="og:description" content={description.text} />
      <meta property="og:url" content={url} />
      <meta property="og:image" content={site.socialImage ?? baseUrl + (logo ?? assets.touchIcon)} />
      <meta name="twitter:card" content={site.socialImage ? 'summary_large_image' : 'summary'} />
    </>
  )
}

/**
 * Builds data for search engines: JSON-LD in the vocabulary of schema.org. It says only what the site file says, and
 * names a publisher only if the owner gave a name and a site. It has no `<`, so it cannot end its script element.
 */
function createStructuredData({ site, baseUrl, assets }: PageOptions): string {
  const { words, name, description, languages, license, home } = site
  const data = {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name,
    description,
    url: `${baseUrl}/`,
    inLanguage: languages,
    license: license?.url,
    publisher:
      words.name !== undefined && home !== undefined
        ? { '@type': 'Organization', name, url: home, logo: assets.logo && baseUrl + assets.logo }
        : undefined,
  }
  return JSON.stringify(data).replaceAll('<', '\\u003c')
}
