import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Layer } from "effect"
import * as Log from "../../src/terminal/Log.ts"
import { Screen } from "../../src/terminal/Screen.ts"

/** What the body logs, as one text. */
const logged = (json: boolean, body: Effect.Effect<void>) => {
  const lines: Array<string> = []
  const screen = Layer.succeed(
    Screen,
    Screen.of({
      json,
      colors: false,
      live: false,
      log: (line) => void lines.push(line),
      result: () => {},
      status: () => {}
    })
  )
  return Effect.as(Effect.provide(body, Layer.provide(Log.layer, screen)), lines)
}

describe("the log", () => {
  const defect = new Error("broken\n    at /etc/passwd\u001b[2J")

  it.effect("prints the stack of a defect on lines of its own, and escapes the message", () =>
    Effect.gen(function* () {
      const [entry = ""] = yield* logged(false, Effect.logError("a callback failed", Cause.die(defect)))
      const [first = "", ...frames] = entry.split("\n")
      assert.match(first, /error a callback failed: broken\\u000a    at \/etc\/passwd\\u001b\[2J$/u)
      assert.isAbove(frames.length, 1)
      for (const frame of frames) assert.match(frame, /^ {4}at \S.*:\d+/u)
    })
  )

  it.effect("keeps an expected failure and a text with line breaks on one line", () =>
    Effect.gen(function* () {
      for (const entry of [
        Effect.logWarning("not done", Cause.fail(defect)),
        Effect.logWarning("of a peer: one\ntwo")
      ]) {
        const [line = ""] = yield* logged(false, entry)
        assert.notInclude(line, "\n")
        assert.include(line, "\\u000a")
      }
    })
  )

  it.effect("gives the frames as a list in JSON", () =>
    Effect.gen(function* () {
      const [line = ""] = yield* logged(true, Effect.logError("a callback failed", Cause.die(defect)))
      const { cause, stack } = JSON.parse(line)
      assert.strictEqual(cause, defect.message)
      for (const frame of stack) assert.match(frame, /^at /u)
    })
  )
})
