/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Site } from '../config/site-file.ts'
import type { IndexedPage } from '../documents/sitemap.ts'
import { PHRASES_CHANGED } from '../locales/languages.ts'
import type { Outcome } from '../locales/locale.ts'
import { type Language, type Texts, toTexts } from '../locales/texts.ts'
import { DOCUMENTS, toPagePath } from '../routes.ts'
import { BACKGROUND } from './brand.ts'
import type { PageAssets } from './site-assets.ts'
import { SUBSETS, toLongest, toSubsets } from './title.ts'

/** The options that are the same for every language. */
export interface PageOptions {
  readonly site: Site
  readonly baseUrl: string
  readonly assets: PageAssets
}

/** What the page shows in one language. */
export interface Page extends PageOptions, Texts {
  readonly language: Language
}

/** Lists the page in each language of the site, for the sitemap. The first language is the default (`x-default`). */
export function listPages(languages: readonly Language[]): IndexedPage[] {
  const versions = languages.map((language) => [language, toPagePath(language, languages)] as const)
  const alternates = { ...Object.fromEntries(versions), 'x-default': '/' }
  return versions.map(([, path]) => ({ path, lastmod: PHRASES_CHANGED, alternates }))
}

/** Builds the style of the page in a language, for its head and for the hash in its policy. */
export function createStyle({ assets, site }: PageOptions, language: Language): string {
  const { text } = toTexts(site, language).name
  // A font that is late shows at the next visit only: in another font, some names take another line, and the form would move.
  const faces = toSubsets(text).map(
    (subset) =>
      `@font-face{font-family:Title;src:url(${assets.fonts[subset].path})format("woff2");font-weight:600;font-display:optional;unicode-range:${SUBSETS[subset]}}`,
  )
  return `${assets.style}${faces.join('')}h1{--width:${toLongest(text).toFixed(2)}}`
}

/** Builds the head of the page. An outcome comes first in the title, so that screen readers read it first. */
export function createPageHead(page: Page, outcome: Outcome | undefined): JSX.Element {
  const { site, baseUrl, assets, language, name, description, phrases } = page
  const toUrl = (other: Language) => baseUrl + toPagePath(other, site.languages)
  return (
    <head>
      <meta charset="utf-8" />
      <title>
        {outcome && `${phrases[outcome]} · `}
        {name.text} · {phrases.subscribe}
      </title>
      {/* Before the style: some agents read only the first kilobyte. */}
      <link rel="service-doc" type="text/markdown" href={DOCUMENTS.llmsTxt.path} />
      <link rel="service-desc" type={DOCUMENTS.openApiJson.mediaType} href={DOCUMENTS.openApiJson.path} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="description" content={description.text} />
      <meta name="color-scheme" content="light dark" />
      {(['light', 'dark'] as const).map((theme) => (
        <meta key={theme} name="theme-color" media={`(prefers-color-scheme: ${theme})`} content={BACKGROUND[theme]} />
      ))}
      <style dangerouslySetInnerHTML={{ __html: createStyle(page, language) }} />
      {toSubsets(name.text).map((subset) => (
        <link
          key={subset}
          rel="preload"
          as="font"
          type="font/woff2"
          crossorigin="anonymous"
          href={assets.fonts[subset].path}
        />
      ))}
      <link rel="icon" type={assets.icon.mediaType} href={assets.icon.path} />
      <link rel="apple-touch-icon" href={assets.touchIcon.path} />
      <link rel="canonical" href={toUrl(language)} />
      {site.languages.map((other) => (
        <link key={other} rel="alternate" hreflang={other} href={toUrl(other)} />
      ))}
      <link rel="alternate" hreflang="x-default" href={`${baseUrl}/`} />
      {Object.entries(toCardProperties(page)).map(
        ([property, content]) =>
          content !== undefined && <meta key={property} property={`og:${property}`} content={String(content)} />,
      )}
      <meta name="twitter:card" content="summary_large_image" />
      {site.author && <meta name="author" content={site.author} />}
      <script type="application/ld+json" dangerouslySetInnerHTML={{ __html: createStructuredData(page) }} />
      <script type="module" src={assets.script.path} />
    </head>
  )
}

/** Returns what other programs show for a link to the page: the properties of Open Graph (ogp.me). */
function toCardProperties({ site, baseUrl, assets, language, name, description }: Page) {
  const { path = '', width, height } = assets.cards.get(name.text) ?? {}
  const { language: tag, region } = new Intl.Locale(language).maximize()
  return {
    url: baseUrl + toPagePath(language, site.languages),
    type: 'website',
    title: name.text,
    description: description.text,
    site_name: name.text,
    locale: `${tag}_${region}`,
    image: baseUrl + path,
    'image:width': width,
    'image:height': height,
    'image:alt': name.text,
  }
}

/**
 * Builds data for search engines: JSON-LD in the vocabulary of schema.org. It describes the site in its first language, on every page, and
 * names a publisher only if the owner gave a name and a site. It has no `<`, so it cannot end its script element.
 */
function createStructuredData({ site, baseUrl, assets }: PageOptions): string {
  const { words, name, description, author, issues, languages, license, home } = site
  const data = {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name,
    description,
    url: `${baseUrl}/`,
    inLanguage: languages,
    license: license?.url,
    author: author && { '@type': 'Person', name: author, image: assets.portrait && baseUrl + assets.portrait.path },
    hasPart:
      issues.length > 0
        ? issues.map(({ title, url, date }) => ({ '@type': 'PublicationIssue', name: title, url, datePublished: date }))
        : undefined,
    publisher:
      words.name !== undefined && home !== undefined
        ? { '@type': 'Organization', name, url: home, logo: assets.logo && baseUrl + assets.logo.path }
        : undefined,
  }
  return JSON.stringify(data).replaceAll('<', '\\u003c')
}
