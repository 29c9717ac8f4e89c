import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { eventKinds } from "../../src/observe/Events.ts"

const root = join(import.meta.dirname, "../../..")
const textOf = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n")

describe("the kinds of events", () => {
  it("are twelve, and the program records each", () => {
    assert.lengthOf(eventKinds, 12)
    const sources = textOf("agent/src/**/*.ts")
    for (const kind of eventKinds) assert.include(sources, `record("${kind}"`)
  })

  it("are seen by a test each", () => {
    const tests = textOf("{agent,stack}/test/**/*[a-z].test.ts")
    assert.deepStrictEqual(
      eventKinds.filter((kind) => !new RegExp(`event: ${kind}\\b|"${kind}"`, "u").test(tests)),
      []
    )
  })
})
