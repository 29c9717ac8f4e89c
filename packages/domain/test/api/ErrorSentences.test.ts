/** What the API description says of an error is the sentence over its class (UPDATE_DOCS=1 writes the table). */
import { errorSentences } from "@catenet/domain/api/ErrorSentences.generated"
import { assert, it } from "@effect/vitest"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const source = join(import.meta.dirname, "../../src")
const generated = join(source, "api/ErrorSentences.generated.ts")
const declared = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export class (\w+) extends Problem</gu

/** What no route declares: the listener answers before there is one. */
const ofListener = new Set(["RequestTimeout", "ChunkExtensionsTooLarge", "HeadersTooLarge"])

const sentences = globSync("**/*Errors.ts", { cwd: source })
  .sort()
  .flatMap((file) => Array.from(readFileSync(join(source, file), "utf8").matchAll(declared)))
  .filter(([, , name = ""]) => !ofListener.has(name))
  .map(([, text = "", name = ""]) => [name, text.replaceAll(/\s*\n \* ?/gu, " ").trim()] as const)

it("every error has a sentence over its class, and the API description has the same", () => {
  for (const [name, sentence] of sentences) assert.match(sentence, /^[A-Z`].*\.$/u, name)
  if (process.env["UPDATE_DOCS"] === "1") {
    const members = sentences.map(([name, sentence]) => `  ${name}:\n    ${JSON.stringify(sentence)}`)
    const head =
      "/** What the comments over the errors say; `ErrorSentences.test.ts` writes it, whole and so as long as there are errors. */\n"
    const table = `export const errorSentences: Readonly<Record<string, string>> = {\n${members.join(",\n")}\n}\n`
    writeFileSync(generated, head + table)
  } else assert.deepStrictEqual(errorSentences, Object.fromEntries(sentences))
})
