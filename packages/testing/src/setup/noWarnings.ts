/** A warning of the process, such as one of listeners that pile up, fails the file in which it comes. */
import { afterAll, assert } from "@effect/vitest"

// This module is evaluated for each file, the process that files share gets one listener.
const key = Symbol.for("catenet/testing/warnings")
const shared = globalThis as { [key]?: Array<string> }
const warnings = (shared[key] ??= listen())

function listen(): Array<string> {
  const heard: Array<string> = []
  process.on("warning", (warning) => {
    // `node:sqlite` says that it is new.
    if (warning.name !== "ExperimentalWarning") heard.push(warning.stack ?? String(warning))
  })
  return heard
}
afterAll(() => assert.deepStrictEqual(warnings.splice(0), []))
