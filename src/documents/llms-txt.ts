/**
 * The guide for agents, in the structure of llmstxt.org: a heading and a quote; then text without headings,
 * so that whoever reads by the rules finds nothing but lists of links in the sections that follow.
 * What the description says as well is taken from the contract.
 */

import type { Site } from '../config/site-file.ts'
import { PROBLEMS, type Problem, toErrorBody } from '../errors.ts'
import { DOCUMENTS, type DocumentName, ENDPOINT, listDocuments } from '../routes.ts'
import { createCurlCall } from './curl.ts'
import { ACCEPTED_TERMS, BODY_TERMS, createTerms, EMAIL_TERMS, ERROR_TERMS, REDIRECT_TERMS } from './terms.ts'

/** What developers read first; the other documents are optional. */
const RESOURCES: readonly DocumentName[] = ['openApiJson', 'openApiYaml', 'apiCatalog', 'protectedResource']

/** Writes what the guide begins with: the name of the site, and what it says of itself. */
export function createLlmsHeading({ name, description }: Pick<Site, 'name' | 'description'>): string {
  return `# ${name}\n\n> ${description}\n`
}

/** Writes the guide. @param baseUrl an origin, without a trailing slash */
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
    toSection('License', [
      toLink(site.license.name, site.license.url, 'The license of what this site publishes.'),
    ]),
    ...(site.contact
      ? [toSection('Contact', [toLink('Operator', site.contact, 'Who keeps the list.')])]
      : []),
    toSection('Optional', optional.map(toDocumentLink)),
  ].join('\n')
}

function createGuide(site: Site, baseUrl: string): string {
  return `**When to use:** somebody asks for this newsletter, or has you subscribe an address of theirs. One call adds it.

**When not to use:** the owner of an address has not asked for it. Nor is there anything here that tells whether an address is on the list, takes one off, or sends mail.

**The call:** POST to ${baseUrl}${ENDPOINT.path} (\`${ENDPOINT.operationId}\` in the API description).

\`\`\`sh
${createCurlCall(baseUrl)}
\`\`\`

**The body:** ${BODY_TERMS} Its member \`email\`: ${EMAIL_TERMS}

**Good to know:**

${Object.values(createTerms(site)).map(toItem).join('')}
**The answers**, by status:

${createAnswers().map(toItem).join('')}
**Errors:** ${ERROR_TERMS}

\`\`\`json
${JSON.stringify(toErrorBody(PROBLEMS.missing))}
\`\`\`
`
}

/** One line for each answer; that of an error says what is wrong, then what to do. */
function createAnswers(): string[] {
  const byStatus = Object.values(PROBLEMS).toSorted((one, other) => one.status - other.status)
  return [
    `200 \`{"ok":true}\`: ${ACCEPTED_TERMS}`,
    `308: ${REDIRECT_TERMS}`,
    ...byStatus.map(
      ({ status, code, message, hint }: Problem) => `${status} \`${code}\`: ${message} ${hint}`,
    ),
  ]
}

function toSection(title: string, links: readonly string[]): string {
  return `## ${title}\n\n${links.map(toItem).join('')}`
}

function toItem(text: string): string {
  return `- ${text}\n`
}

/** A link of Markdown; what would end its text or its address too early is escaped. */
function toLink(title: string, url: string, note: string): string {
  const text = title.replace(/[\\[\]]/g, '\\$&')
  return `[${text}](${url.replaceAll('(', '%28').replaceAll(')', '%29')}): ${note}`
}
