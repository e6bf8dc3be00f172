import { type Command, Option } from 'commander'
import { readConfig } from '../config/config.ts'
import { createDescription, toJson, toYaml } from '../documents/openapi/description.ts'
import { createCommand } from './list.ts'
import { print } from './output.ts'

/** `rollcall openapi`: the description of the service, for a generator of clients. */
export function createOpenapiCommand(): Command {
  return createCommand(
    'openapi',
    'print the OpenAPI description',
    'rollcall openapi --format json > openapi.json',
  )
    .addOption(new Option('--format <format>', 'how it is written').choices(['yaml', 'json']).default('yaml'))
    .action(async ({ format }: { format: 'yaml' | 'json' }) => {
      const description = createDescription(readConfig())
      await print((format === 'json' ? toJson(description) : toYaml(description)).trimEnd())
    })
}
