/** Asks on the terminal, or reads the answers line by line from a pipe. Questions go to stderr; stdout is for results. */
import { Context, Effect, Layer, Option } from "effect"
import { createInterface } from "node:readline"
import { Writable } from "node:stream"

export class Prompts extends Context.Service<
  Prompts,
  {
    /** Whether a person answers, so that questions can be repeated. */
    readonly interactive: boolean
    /** The next line; undefined at the end. `hidden` answers are not echoed. */
    ask(question: string, hidden: boolean): Effect.Effect<Option.Option<string>>
  }
>()("agent/terminal/Prompts") {
  static readonly layer = Layer.effect(
    Prompts,
    Effect.gen(function* () {
      const interactive = process.stdin.isTTY
      let muted = false
      const output = new Writable({
        write: (chunk, _encoding, done) => {
          if (!muted) process.stderr.write(chunk)
          done()
        }
      })
      const reader = yield* Effect.acquireRelease(
        Effect.sync(() => createInterface({ input: process.stdin, output, terminal: interactive })),
        (open) => Effect.sync(() => open.close())
      )
      const lines = reader[Symbol.asyncIterator]()
      return {
        interactive,
        ask: (question, hidden) =>
          Effect.promise(async () => {
            if (interactive) process.stderr.write(question)
            muted = hidden
            const { done, value } = await lines.next()
            muted = false
            if (hidden && interactive) process.stderr.write("\n")
            return done === true ? Option.none() : Option.some(value)
          })
      }
    })
  )
}
