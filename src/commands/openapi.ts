import { type Command, Option } from 'commander'
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
      // Imported on demand, for the reason in serve.ts.
      const { readConfig } = await import('../config/config.ts')
      const { createDescription, toJson, toYaml } = await import('../documents/openapi/description.ts')
      const description = createDescription(readConfig())
      await print((format === 'json' ? toJson(description) : toYaml(description)).trimEnd())
    })
}
