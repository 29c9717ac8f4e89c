/** The script that verifies in browsers is made from the sources of the command (UPDATE_GENERATED=1 makes it anew). */
import { readFileSync, writeFileSync } from "node:fs"
import { rolldown } from "rolldown"
import { assert, it } from "vitest"

const folder = new URL("../../../src/portal/receipts/", import.meta.url)
const generated = new URL("VerifierScript.generated.ts", folder)
const head = `/** Made from \`Worker.ts\` and what it imports, by the test \`VerifierScript.test.ts\` with UPDATE_GENERATED=1. */\n`

it("the verifier of receipts in browsers is compiled from the code of the command", async () => {
  const bundle = await rolldown({ input: new URL("Worker.ts", folder).pathname, platform: "browser", logLevel: "warn" })
  const { output } = await bundle.generate({ format: "es", minify: true })
  await bundle.close()
  const [{ code, imports }] = output
  assert.deepStrictEqual([output.length, imports], [1, []], "one script that loads no other")
  assert.notMatch(code, /\b(?:XMLHttpRequest|sendBeacon|WebSocket|EventSource|importScripts)\b|\bimport\(/u)
  const ascii = JSON.stringify(code).replaceAll(
    /[^\0-\x7f]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  )
  const wanted = `${head}export const text =\n  ${ascii}\n`
  if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(generated, wanted)
  assert.isTrue(readFileSync(generated, "utf8") === wanted, "make it anew with UPDATE_GENERATED=1")
})
