/** The operations that read documents. */

import type { oas31 } from 'openapi3-ts'
import type { Site } from '../../config/site-file.ts'
import { DOCUMENTS, type DocumentName, listDocuments } from '../../routes.ts'
import { createContents, type Head } from './document-schemas.ts'
import { toHeaders } from './headers.ts'
import { toReference } from './reference.ts'
import { DOCUMENT_HEADERS, toResponse } from './responses.ts'

export const DOCUMENTS_TAG: oas31.TagObject = {
  name: 'Documents',
  description: 'Documents for machines. HEAD works like GET, without the body.',
}

/** Builds the path items of all documents of a site. */
export function createDocumentPaths(site: Site, baseUrl: string, head: Head): oas31.PathsObject {
  const contents = createContents(site, baseUrl, head)
  return Object.fromEntries(
    listDocuments(site).map((name) => [DOCUMENTS[name].path, { get: createOperation(name, contents[name]) }]),
  )
}

function createOperation(name: DocumentName, content: oas31.MediaTypeObject): oas31.OperationObject {
  const { operationId, mediaType, title, summary } = DOCUMENTS[name]
  return {
    operationId,
    tags: [DOCUMENTS_TAG.name],
    summary: title,
    description: summary,
    security: [],
    parameters: [toReference('parameters', 'IfNoneMatch')],
    responses: {
      '200': {
        description: 'The document.',
        headers: toHeaders({ ...DOCUMENT_HEADERS, 'Content-Encoding': 'ContentEncoding' }),
        content: { [mediaType]: content },
      },
      '304': toResponse('NotModified'),
      '308': toResponse('CanonicalHost'),
      '404': toResponse('NotFound'),
      '405': toResponse('ReadOnly'),
      '500': toResponse('ServiceFailure'),
    },
  }
}
