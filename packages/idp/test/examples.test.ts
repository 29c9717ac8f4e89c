import { runExamples } from "@catenet/testing/Examples"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"

describe("examples", () => {
  const count = runExamples(join(import.meta.dirname, ".."), ["README.md"])
  it("show how to start a realm", () => assert.strictEqual(count, 1))
})
