/** @jsxImportSource hono/jsx */

import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Site } from '../config/site-file.ts'
import { type Language, type Texts, toPagePath, toTexts } from '../config/texts.ts'
import type { Outcome } from '../locales/locale.ts'
import { DOCUMENTS } from '../routes.ts'
import { BACKGROUND } from './accent.ts'
import type { PageAssets } from './assets.ts'
import { FAVICON_PATH } from './favicon.ts'
import { createStructuredData } from './structured-data.ts'
import { isInTitleFont } from './title-font.ts'

/** The options that are the same for every language. */
export interface PageOptions {
  readonly site: Site
  readonly baseUrl: string
  readonly assets: Pick<PageAssets, 'stylesheet' | 'script' | 'logo' | 'touchIcon' | 'font'>
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
        {outcome && `${phrases.outcomes[outcome]} · `}
        {name.text} · {phrases.subscribe}
      </title>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="description" content={description.text} />
      <meta name="color-scheme" content="light dark" />
      {outcome && <meta name="robots" content="noindex" />}
      {(['light', 'dark'] as const).map((theme) => (
        <meta key={theme} name="theme-color" media={`(prefers-color-scheme: ${theme})`} content={BACKGROUND[theme]} />
      ))}
      <link rel="stylesheet" href={assets.stylesheet} />
      {assets.font && isInTitleFont(name.text) && (
        <link rel="preload" as="font" type="font/woff2" crossorigin="anonymous" href={assets.font} />
      )}
      <link rel="icon" type="image/svg+xml" href={FAVICON_PATH} />
      <link rel="apple-touch-icon" href={assets.touchIcon} />
      <link rel="canonical" href={toUrl(language)} />
      {site.languages.map((other) => (
        <link key={other} rel="alternate" hreflang={other} href={toUrl(other)} />
      ))}
      <link rel="alternate" hreflang="x-default" href={`${baseUrl}/`} />
      <link rel="service-doc" type="text/markdown" href={DOCUMENTS.llmsTxt.path} />
      <link rel="service-desc" type={DOCUMENTS.openApiJson.mediaType} href={DOCUMENTS.openApiJson.path} />
      {createCard(options, texts, toUrl(language))}
      <script
        type="application/ld+json"
        dangerouslySetInnerHTML={{ __html: createStructuredData(site, baseUrl, assets.logo) }}
      />
      <script type="module" src={assets.script} />
    </head>
  )
}

/** Builds what other programs show for a link to the page: Open Graph (ogp.me), and the kind of card of X. */
function createCard({ site, baseUrl, assets }: PageOptions, { name, description }: Texts, url: string): JSX.Element {
  const image = site.socialImage ?? (site.logo?.mediaType === 'image/png' ? baseUrl + assets.logo : undefined)
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:site_name" content={name.text} />
      <meta property="og:title" content={name.text} />
      <meta property="og:description" content={description.text} />
      <meta property="og:url" content={url} />
      {image && <meta property="og:image" content={image} />}
      <meta name="twitter:card" content={site.socialImage ? 'summary_large_image' : 'summary'} />
    </>
  )
}
