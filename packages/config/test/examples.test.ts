import { describe } from "@effect/vitest"
import { join } from "node:path"
import { runExamples, sourcesOf } from "../../domain/test/Examples.ts"

const root = join(import.meta.dirname, "..")

describe("examples", () => {
  runExamples(root, [...sourcesOf(root), "README.md"])
})
