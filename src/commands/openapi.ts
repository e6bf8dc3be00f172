import { type Command, Option } from 'commander'
import { readConfig } from '../config/config.ts'
import { createDescription, toJson, toYaml } from '../documents/openapi/description.ts'
import { createCommand } from './list-command.ts'
import { print } from './output.ts'

/** `rollcall openapi`: prints the description of the service, for tools that generate clients. */
export function createOpenapiCommand(): Command {
  return createCommand(
    'openapi',
    'Print the OpenAPI description of the service',
    'rollcall openapi --format json > openapi.json',
  )
    .addOption(new Option('--format <format>', 'Print this format').choices(['yaml', 'json']).default('yaml'))
    .action(async ({ format }: { format: 'yaml' | 'json' }) => {
      const description = createDescription(readConfig())
      await print((format === 'json' ? toJson(description) : toYaml(description)).trimEnd())
    })
}
