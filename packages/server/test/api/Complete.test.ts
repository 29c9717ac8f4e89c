/**
 * The contract test is the tables of all families together: each holds one or more groups of the API value, row by row.
 * Here is only shown that no group is without its table; that none is without handlers is shown by every server that
 * starts.
 */
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const folder = join(import.meta.dirname, "..")
const found = globSync("**/*.test.ts", { cwd: folder }).flatMap((file) =>
  Array.from(readFileSync(join(folder, file), "utf8").matchAll(/Contract\.hold\(\s*"(\w+)"/g), ([, group]) => group)
)
const held = new Set(found)

describe("the contract", () => {
  it("has a table for every group of the API", () => {
    assert.deepStrictEqual(
      Object.keys(ControlPlaneApi.groups).filter((group) => !held.has(group)),
      []
    )
  })
})
