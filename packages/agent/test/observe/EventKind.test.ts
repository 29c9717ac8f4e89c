import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { eventKinds } from "../../src/observe/EventKind.ts"

const root = join(import.meta.dirname, "../../..")
const textOf = (pattern: string) =>
  globSync(pattern, { cwd: root })
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n")

describe("the kinds of events", () => {
  it("are twelve, each recorded by the program and seen by a test", () => {
    assert.lengthOf(eventKinds, 12)
    const [sources, tests] = [textOf("agent/src/**/*.ts"), textOf("{agent,stack}/test/**/*.test.ts")]
    for (const kind of eventKinds) {
      assert.include(sources, `events.record("${kind}"`)
      assert.match(tests, new RegExp(`event: ${kind}\\b|kind.{0,12}"${kind}"|"${kind}"`, "u"), kind)
    }
  })
})
