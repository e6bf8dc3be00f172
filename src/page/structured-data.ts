/** Data about the site for search engines, as JSON-LD in the vocabulary of schema.org. */

import type { Site } from '../config/site-file.ts'
import { ENDPOINT } from '../routes.ts'

/**
 * Builds the content of a script element. It has no `<`, so it cannot end the element.
 *
 * @param logo the path of the logo; used only if the owner has one
 */
export function createStructuredData(site: Site, baseUrl: string, logo: string): string {
  const data = {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    name: site.name,
    description: site.description,
    url: `${baseUrl}/`,
    inLanguage: site.languages,
    license: site.license.url,
    publisher: createOrganization(site, site.logo && baseUrl + logo),
    potentialAction: {
      '@type': 'SubscribeAction',
      target: {
        '@type': 'EntryPoint',
        urlTemplate: baseUrl + ENDPOINT.path,
        httpMethod: 'POST',
        encodingType: ENDPOINT.mediaType,
        contentType: ENDPOINT.mediaType,
      },
    },
  }
  return JSON.stringify(data).replaceAll('<', '\\u003c')
}

/** Describes the owner, if the owner gave a name and a site. Nothing is made up. */
function createOrganization({ words, name, home, contact }: Site, logo: string | undefined) {
  if (words.name === undefined || home === undefined) return undefined
  const email = contact?.startsWith('mailto:') ? contact.slice('mailto:'.length) : undefined
  return { '@type': 'Organization', name, url: home, logo, email }
}
