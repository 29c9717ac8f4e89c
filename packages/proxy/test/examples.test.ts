import { runExamples, sourcesOf } from "@catenet/testing/Examples"
import { describe } from "@effect/vitest"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")

describe("examples", () => {
  runExamples(root, [...sourcesOf(root), "README.md"])
})
