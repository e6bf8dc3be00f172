import { EXAMPLE_BODY } from '../errors.ts'
import { ENDPOINT } from '../routes.ts'

/** Builds the example call for a shell. */
export function createCurlCall(baseUrl: string): string {
  return `curl ${baseUrl}${ENDPOINT.path} \\
  -H 'Content-Type: ${ENDPOINT.mediaType}' \\
  -d '${EXAMPLE_BODY}'`
}
