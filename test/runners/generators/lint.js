// Prints what Spectral finds in a description, as JSON: the rules for OpenAPI, and those for the OWASP API Security Top 10.

import spectral from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import rulesets from '@stoplight/spectral-rulesets'

const linter = new spectral.Spectral()
linter.setRuleset(new spectral.Ruleset({ extends: [rulesets.oas, owasp] }))
const results = await linter.run(await Bun.file(process.argv[2]).text())
console.log(
  JSON.stringify(results.map(({ code, path, message }) => ({ rule: String(code), at: path.join('.'), message }))),
)
