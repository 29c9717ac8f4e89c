import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { runExamples } from "../../domain/test/Examples.ts"

describe("examples", () => {
  const count = runExamples(join(import.meta.dirname, ".."), ["README.md"])
  it("show frames, a session and the relay", () => assert.strictEqual(count, 3))
})
