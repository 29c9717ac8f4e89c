/** Spectral's rules for OpenAPI, over the documents that are named. Prints what breaks one. */
import spectralCore from "@stoplight/spectral-core"
import rulesets from "@stoplight/spectral-rulesets"
import { readFileSync } from "node:fs"

const { Document, Spectral } = spectralCore
const { oas } = rulesets
const spectral = new Spectral()
spectral.setRuleset({
  extends: [[oas, "all"]],
  rules: {
    // No person or organization stands behind an installation but its operator.
    "info-contact": "off",
    // The tags of the edge's and the agent's documents say enough by their names; those of the control plane stand in its order.
    "tag-description": "off",
    "openapi-tags-alphabetical": "off",
    // A list of fixed places has prefixItems in OpenAPI 3.1, and a length.
    "array-items": "off",
    // OpenAPI 3.1 has an identifier instead, and takes no url beside it.
    "license-url": "off"
  }
})
const json = {
  parse: (text) => ({ data: JSON.parse(text), diagnostics: [], ast: undefined }),
  getLocationForJsonPath: () => undefined
}
for (const file of process.argv.slice(2)) {
  const found = await spectral.run(new Document(readFileSync(file, "utf8"), json, file))
  for (const { code, message, path } of found) process.stdout.write(`${file}: ${code}: ${path.join(".")}: ${message}\n`)
}
