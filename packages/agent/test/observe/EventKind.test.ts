import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { eventKinds } from "../../src/observe/EventKind.ts"

const root = join(import.meta.dirname, "../../..")
const textOf = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n")

/** The tests of updates look at the file that is replaced, and at no event. */
const unseen = ["update_check", "update_applied"]

describe("the kinds of events", () => {
  it("are twelve, and the program records each", () => {
    assert.lengthOf(eventKinds, 12)
    const sources = textOf("agent/src/**/*.ts")
    for (const kind of eventKinds) assert.include(sources, `record("${kind}"`)
  })

  it("are seen by a test each, but for those of updates", () => {
    const tests = textOf("{agent,stack}/test/**/*[a-z].test.ts").replaceAll(`["update_check", "update_applied"]`, "")
    assert.deepStrictEqual(
      eventKinds.filter((kind) => !new RegExp(`event: ${kind}\\b|"${kind}"`, "u").test(tests)),
      unseen
    )
  })
})
