/** References within the description. */

import type { oas31 } from 'openapi3-ts'

/** Points at a reusable part of the description. */
export function toReference(section: keyof oas31.ComponentsObject, name: string): oas31.ReferenceObject {
  return { $ref: `#/components/${section}/${name}` }
}
