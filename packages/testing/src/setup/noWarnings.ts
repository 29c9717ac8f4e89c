/** A warning of the process, such as one of listeners that pile up, fails the file in which it comes. */
import { afterAll, assert } from "@effect/vitest"

const warnings: Array<string> = []
process.on("warning", (warning) => {
  // `node:sqlite` says that it is new.
  if (warning.name !== "ExperimentalWarning") warnings.push(warning.stack ?? String(warning))
})
afterAll(() => assert.deepStrictEqual(warnings, []))
