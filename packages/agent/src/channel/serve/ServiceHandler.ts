/**
 * A service call by a command: the input on stdin, the trimmed stdout as the answer. Everything else is a failure whose text shows
 * the end of stderr without secrets.
 */
import { redact } from "@catenet/domain/values/Redaction"
import { Duration, Effect } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { ToolFailed } from "../rpc/Tool.ts"
import * as HandlerProcess from "./HandlerProcess.ts"
import { readLines } from "./OutputLines.ts"

const patienceSeconds = 120
/** Bytes of stderr that a failure shows. */
export const tailBytes = 2048
/** Bytes of an answer that are read: far more than a frame of the channel has. */
export const longestAnswer = 1024 * 1024

interface Ended {
  readonly stdout: string
  readonly stderr: string
  /** Why it is no answer. */
  readonly problem: string | undefined
}

/** The last bytes of what was written. */
class Tail {
  #kept = Buffer.alloc(0)
  add(chunk: Buffer) {
    this.#kept = Buffer.concat([this.#kept, chunk]).subarray(-tailBytes)
  }
  get text() {
    return redact(this.#kept.toString("utf8")).trim()
  }
}

const run = (child: ChildProcessWithoutNullStreams, input: string, onLine: (line: string) => void) =>
  Effect.callback<Ended>((resume) => {
    const chunks: Array<Buffer> = []
    let length = 0
    const tail = new Tail()
    child.stdout.on("data", (chunk: Buffer) => {
      length += chunk.length
      if (length <= longestAnswer) chunks.push(chunk)
      else HandlerProcess.killGroup(child)
    })
    child.stderr.on("data", (chunk: Buffer) => {
      tail.add(chunk)
    })
    readLines(child.stderr, onLine)
    // What the command has left behind would keep its pipes open.
    child.once("exit", () => HandlerProcess.killGroup(child))
    child.once("close", (code, signal) => {
      const problem =
        length > longestAnswer
          ? `printed more than ${longestAnswer} bytes`
          : code === 0
            ? undefined
            : code === null
              ? `was ended by ${signal ?? "a signal"}`
              : `exited with ${code}`
      resume(Effect.succeed({ stdout: Buffer.concat(chunks).toString("utf8").trim(), stderr: tail.text, problem }))
    })
    child.stdin.end(input)
  })

const failed = (why: string, stderr: string) =>
  new ToolFailed({ reason: `the command ${why}${stderr === "" ? "" : `: ${stderr}`}` })

/** The answer of the command. */
export const call = Effect.fn("ServiceHandler.call")(function* (command: HandlerProcess.Command, input: string) {
  const { service } = command
  const context = yield* Effect.context()
  const log = (line: string) => void Effect.runForkWith(context)(Effect.logInfo(`${service}: ${line}`))
  const child = yield* Effect.mapError(
    HandlerProcess.start(command),
    ({ message: reason }) => new ToolFailed({ reason })
  )
  const { problem, stderr, stdout } = yield* Effect.timeoutOrElse(run(child, input, log), {
    duration: Duration.seconds(patienceSeconds),
    orElse: () => Effect.fail(failed(`did not end within ${patienceSeconds} s`, ""))
  })
  if (problem !== undefined) return yield* failed(problem, stderr)
  if (stdout === "") return yield* failed("printed nothing", stderr)
  return stdout
}, Effect.scoped)
