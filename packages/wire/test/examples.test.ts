import { runExamples } from "@catenet/testing/Examples"
import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"

describe("examples", () => {
  const count = runExamples(join(import.meta.dirname, ".."), ["README.md"])
  it("show frames, a session and the relay", () => assert.strictEqual(count, 3))
})
