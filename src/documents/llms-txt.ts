/**
 * The guide for agents, in the structure of llmstxt.org: a heading and a quote, then text without headings, then
 * sections that contain only lists of links. Agents and scanners look for the phrases "When to use this", "Developer
 * resources", "API", "POST /api/newsletter", "No API key" and "sandbox".
 */

import type { Site } from '../config/site-file.ts'
import { PROBLEMS, toErrorBody } from '../errors.ts'
import { DOCUMENT_NAMES, DOCUMENTS, type DocumentName, ENDPOINT } from '../routes.ts'
import {
  ACCEPTED_TERMS,
  BODY_TERMS,
  createCurlCall,
  createTerms,
  EMAIL_TERMS,
  ERROR_TERMS,
  LIMITED_BODY,
  LIMITED_TERMS,
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
  const others = DOCUMENT_NAMES.filter((name) => name !== 'llmsTxt' && !RESOURCES.includes(name))
  const toDocumentLink = (name: DocumentName) => {
    const { path, title, summary } = DOCUMENTS[name]
    return toLink(title, baseUrl + path, summary)
  }
  const { license } = site
  const sections = {
    'Developer resources': RESOURCES.map(toDocumentLink),
    Operator: listOperatorLinks(site),
    License: license ? [toLink(license.name, license.url, 'The license of the content of this site.')] : [],
    Optional: others.map(toDocumentLink),
  }
  const filled = Object.entries(sections).filter(([, links]) => links.length > 0)
  const texts = filled.map(([title, links]) => `## ${title}\n\n${links.map(toItem).join('')}`)
  return [createLlmsHeading(site), createGuide(site, baseUrl), ...texts].join('\n')
}

function createGuide(site: Site, baseUrl: string): string {
  const removal = site.contact ? ` To have an address removed, write to the operator: ${site.contact}` : ''
  return `**When to use this:** a person asks for this newsletter, or asks you to subscribe an address of theirs. One call adds it.

**When not to use this:** the owner of an address has not asked for it. This service also cannot look up an address, remove one or send mail.${removal}

**For people:** A person can subscribe at ${baseUrl}/ with a form.

**API:** \`POST ${ENDPOINT.path}\` adds one address. The whole URL is ${baseUrl}${ENDPOINT.path}, and the operation is \`${ENDPOINT.operationId}\` in the API description.

\`\`\`sh
${createCurlCall(baseUrl)}
\`\`\`

**The body:** ${BODY_TERMS} Its member \`email\`: ${EMAIL_TERMS}

**Good to know:**

${createTerms(site).map(toItem).join('')}
**The responses**, by status:

${listResponses().map(toItem).join('')}
**Errors:** ${ERROR_TERMS} \`error.hint\` says what to do next.

\`\`\`json
${JSON.stringify(toErrorBody(PROBLEMS.missing))}
\`\`\`
`
}

/** One message for the errors that have the same status and code. The other statuses have one error each. */
const SUMMARIES: Readonly<Record<string, string>> = {
  '400 `invalid_email`': 'The address is missing or not valid.',
  '400 `invalid_body`': 'There is no body, or it is not a JSON object.',
  '415 `invalid_body`': 'The body is not plain JSON: another media type, or a Content-Encoding.',
  '405 `method_not_allowed`': 'The path does not accept this method. The header `Allow` has those that it accepts.',
}

/** Lists the responses, one line for each status and code. */
function listResponses(): string[] {
  const errors = Object.values(PROBLEMS).map(({ status, code, message }) => {
    const start = `${status} \`${code}\``
    return `${start}: ${SUMMARIES[start] ?? message}`
  })
  const limited = `429 \`${LIMITED_BODY.message}\`: ${LIMITED_TERMS}`
  // Errors with the same status, code and text are one line.
  const failures = new Set([...errors, limited].sort())
  return [`200 \`{"ok":true}\`: ${ACCEPTED_TERMS}`, `308: ${REDIRECT_TERMS}`, ...failures]
}

function listOperatorLinks({ home, issues, privacy, imprint, contact }: Site): string[] {
  const links = [
    ['Website', home, 'The site of the operator.'],
    ...issues.map(({ title, url, date }) => [title, url, `An issue of ${date}.`] as const),
    ['Privacy policy', privacy, 'What happens to an address.'],
    ['Imprint', imprint, 'Who the operator is.'],
    ['Contact', contact, 'Questions, many addresses, and the removal of an address.'],
  ] as const
  return links.flatMap(([title, url, note]) => (url ? [toLink(title, url, note)] : []))
}

function toItem(text: string): string {
  return `- ${text}\n`
}

/** Builds a Markdown link. Escapes the characters that would end its text or its URL. */
function toLink(title: string, url: string, note: string): string {
  const text = title.replace(/[\\[\]]/g, '\\$&')
  return `[${text}](${url.replaceAll('(', '%28').replaceAll(')', '%29')}): ${note}`
}
