/** The call that every guide begins with. */

import { ENDPOINT } from './paths.ts'

/** Writes the call for a shell. */
export function createCurlCall(baseUrl: string): string {
  return `curl ${baseUrl}${ENDPOINT.path} \\
  -H 'Content-Type: ${ENDPOINT.mediaType}' \\
  -d '{"email":"name@example.org"}'`
}
