import { assert, describe, it } from "@effect/vitest"
import { join } from "node:path"
import { runExamples } from "../../domain/test/Examples.ts"

describe("examples", () => {
  const count = runExamples(join(import.meta.dirname, ".."), ["README.md"])
  it("show how to start a realm", () => assert.strictEqual(count, 1))
})
