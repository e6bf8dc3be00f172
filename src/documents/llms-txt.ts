/**
 * The guide for agents, in the structure of llmstxt.org: a heading and a quote, then text without headings, then
 * sections that contain only lists of links.
 */

import type { Site } from '../config/site-file.ts'
import { PROBLEMS, toErrorBody } from '../errors.ts'
import { DOCUMENTS, type DocumentName, ENDPOINT, listDocuments } from '../routes.ts'
import {
  ACCEPTED_TERMS,
  BODY_TERMS,
  createCurlCall,
  createTerms,
  EMAIL_TERMS,
  ERROR_TERMS,
  REDIRECT_TERMS,
} from './terms.ts'

/** The documents for developers. All others are in the section "Optional". */
const RESOURCES: readonly DocumentName[] = ['openApiJson', 'openApiYaml', 'apiCatalog', 'protectedResource']

/** Builds the start of the guide: the name and the description of the site. */
export function createLlmsHeading({ name, description }: Pick<Site, 'name' | 'description'>): string {
  return `# ${name}\n\n> ${description}\n`
}

/** Builds the guide. @param baseUrl an origin, without a trailing slash */
export function createLlmsTxt(site: Site, baseUrl: string): string {
  const optional = listDocuments(site).filter((name) => name !== 'llmsTxt' && !RESOURCES.includes(name))
  const toDocumentLink = (name: DocumentName) => {
    const { path, title, summary } = DOCUMENTS[name]
    return toLink(title, baseUrl + path, summary)
  }
  return [
    createLlmsHeading(site),
    createGuide(site, baseUrl),
    toSection('Developer resources', RESOURCES.map(toDocumentLink)),
    toSection('License', [toLink(site.license.name, site.license.url, 'The license of the content of this site.')]),
    ...(site.contact
      ? [toSection('Contact', [toLink('Operator', site.contact, 'Operates this site and its list.')])]
      : []),
    toSection('Optional', optional.map(toDocumentLink)),
  ].join('\n')
}

function createGuide(site: Site, baseUrl: string): string {
  return `**When to use this:** a person asks for this newsletter, or asks you to subscribe an address of theirs. One call adds it.

**When not to use this:** the owner of an address has not asked for it. This service also cannot look up an address, remove one or send mail.

**The call:** POST to ${baseUrl}${ENDPOINT.path} (\`${ENDPOINT.operationId}\` in the API description).

\`\`\`sh
${createCurlCall(baseUrl)}
\`\`\`

**The body:** ${BODY_TERMS} Its member \`email\`: ${EMAIL_TERMS}

**Good to know:**

${createTerms(site).map(toItem).join('')}
**The responses**, by status:

${listResponses().map(toItem).join('')}
**Errors:** ${ERROR_TERMS}

\`\`\`json
${JSON.stringify(toErrorBody(PROBLEMS.missing))}
\`\`\`
`
}

/** Lists every response in one line. An error has its message, then its hint. */
function listResponses(): string[] {
  const problems = Object.values(PROBLEMS).toSorted((one, other) => one.status - other.status)
  return [
    `200 \`{"ok":true}\`: ${ACCEPTED_TERMS}`,
    `308: ${REDIRECT_TERMS}`,
    ...problems.map(({ status, code, message, hint }) => `${status} \`${code}\`: ${message} ${hint}`),
  ]
}

function toSection(title: string, links: readonly string[]): string {
  return `## ${title}\n\n${links.map(toItem).join('')}`
}

function toItem(text: string): string {
  return `- ${text}\n`
}

/** Builds a Markdown link. Escapes the characters that would end its text or its URL. */
function toLink(title: string, url: string, note: string): string {
  const text = title.replace(/[\\[\]]/g, '\\$&')
  return `[${text}](${url.replaceAll('(', '%28').replaceAll(')', '%29')}): ${note}`
}
