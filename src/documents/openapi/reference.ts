import type { oas31 } from 'openapi3-ts'

/** Refers to a component of the description. */
export function toReference(section: keyof oas31.ComponentsObject, name: string): oas31.ReferenceObject {
  return { $ref: `#/components/${section}/${name}` }
}
