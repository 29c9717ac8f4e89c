/**
 * Where a running agent writes: log lines and results as plain lines, and on a terminal one live status line below them. Boundary
 * file: it writes to the process's streams.
 */
import { Context, Effect, Layer } from "effect"

/** A result of named facts: a line for each, the names padded to a width, or one JSON object. */
export type KeyValueOutput = ReadonlyArray<readonly [name: string, value: string]>

export const print = (screen: Screen["Service"], facts: KeyValueOutput, width: number) => {
  if (screen.json) return screen.result(JSON.stringify(Object.fromEntries(facts)))
  for (const [name, value] of facts) screen.result(`${name.padEnd(width)} = ${value}`)
}

export interface ScreenOptions {
  /** JSON lines instead of text. */
  readonly json: boolean
}

const clear = "\r\u001b[K"

export class Screen extends Context.Service<
  Screen,
  {
    readonly json: boolean
    /** Colours are wanted on the log stream. */
    readonly colors: boolean
    /** Whether `status` shows anything. */
    readonly live: boolean
    /** One log line, on stderr. */
    readonly log: (line: string) => void
    /** One line of a result, on stdout. */
    readonly result: (line: string) => void
    /** Replaces the live line; an empty text removes it. */
    readonly status: (text: string) => void
  }
>()("agent/terminal/Screen") {
  static readonly layer = ({ json }: ScreenOptions) =>
    Layer.effect(
      Screen,
      Effect.sync(() => {
        const { stdout, stderr, env } = process
        const plain = env["NO_COLOR"] !== undefined && env["NO_COLOR"] !== ""
        const live = stdout.isTTY && stderr.isTTY && !json && env["TERM"] !== "dumb"
        // The reader of the output may disconnect; the agent keeps serving.
        for (const stream of [stdout, stderr]) stream.on("error", () => {})
        let shown = ""
        const show = (text: string) => {
          const width = (stdout.columns || 80) - 1
          shown = text.length > width ? `${text.slice(0, width - 1)}…` : text
          stdout.write(clear + shown)
        }
        const above = (stream: NodeJS.WriteStream, line: string) => {
          if (shown === "") return void stream.write(`${line}\n`)
          stdout.write(clear)
          stream.write(`${line}\n`)
          stdout.write(shown)
        }
        return {
          json,
          live,
          colors: stderr.isTTY && !plain && !json,
          log: (line) => above(stderr, line),
          result: (line) => above(stdout, line),
          status: (text) => {
            if (live && text !== shown) show(text)
          }
        }
      })
    )
}
