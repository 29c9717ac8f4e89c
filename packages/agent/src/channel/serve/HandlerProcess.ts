/** Runs a command of the operator in its own process group, which is ended as a whole. */
import { redact } from "@catenet/domain/values/Redaction"
import { signalGroup } from "@catenet/platform/ChildProcesses"
import { Processes } from "@catenet/platform/Processes"
import { Data, Duration, Effect } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { ToolFailed } from "../rpc/Tool.ts"
import { environmentOf } from "./HandlerEnvironment.ts"

/**
 * Serves a call by a command: input on stdin, trimmed stdout as the response. Any other outcome is a failure that shows the end
 * of stderr without secrets.
 */
const patienceSeconds = 120
/** Bytes of stderr that a failure shows. */
export const tailBytes = 2048
/** Bytes of an answer that are read: far more than a frame of the channel has. */
export const longestAnswer = 1024 * 1024

interface Ended {
  readonly stdout: string
  readonly stderr: string
  /** Why there is no response. */
  readonly problem: string | undefined
}

/** The last bytes of the output. */
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
      else signalGroup(child, "SIGKILL")
    })
    child.stderr.on("data", (chunk: Buffer) => {
      tail.add(chunk)
    })
    readLines(child.stderr, onLine)
    // Background processes of the command would keep its pipes open.
    child.once("exit", () => signalGroup(child, "SIGKILL"))
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
export const call = Effect.fn("HandlerProcess.call")(function* (command: Command, input: string) {
  const { service } = command
  const context = yield* Effect.context()
  const log = (line: string) => void Effect.runForkWith(context)(Effect.logInfo(`${service}: ${line}`))
  const child = yield* Effect.mapError(start(command), ({ message: reason }) => new ToolFailed({ reason }))
  const { problem, stderr, stdout } = yield* Effect.timeoutOrElse(run(child, input, log), {
    duration: Duration.seconds(patienceSeconds),
    orElse: () => Effect.fail(failed(`did not end within ${patienceSeconds} s`, ""))
  })
  if (problem !== undefined) return yield* failed(problem, stderr)
  if (stdout === "") return yield* failed("printed nothing", stderr)
  return stdout
}, Effect.scoped)

/** A command's output lines for the log, without secrets. Lines without an end are cut. */
const longestLine = 2048

/** `onLine` gets each complete line, and the rest when the stream ends. */
export const readLines = (stream: Readable, onLine: (line: string) => void): void => {
  const decoder = new StringDecoder("utf8")
  let partial = ""
  stream.on("data", (chunk: Buffer) => {
    const lines = (partial + decoder.write(chunk)).split("\n")
    partial = (lines.pop() ?? "").slice(-longestLine)
    for (const line of lines) onLine(redact(line.slice(-longestLine)))
  })
  stream.once("close", () => {
    if (partial !== "") onLine(redact(partial))
    partial = ""
  })
}

export interface Command {
  readonly line: string
  /** Value of CT_SERVICE_TYPE for the command. */
  readonly service: string
  /** Names of further variables passed to it. */
  readonly passes: ReadonlyArray<string>
}

/** The shell could not be started. */
export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{ readonly why: string }> {
  override get message() {
    return `the command could not be started: ${this.why}`
  }
}

/** A running command; the group is killed when the scope closes. */
export const start = Effect.fn("HandlerProcess.start")(({ line, passes, service }: Command) =>
  Effect.acquireRelease(
    Effect.callback<ChildProcessWithoutNullStreams, SpawnFailed>((resume) => {
      const child = Processes.spawn("sh", ["-c", line], {
        detached: true,
        env: environmentOf(service, passes),
        stdio: ["pipe", "pipe", "pipe"]
      })
      // A command that does not read its input breaks the pipe, which is not an error.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {})
      child.once("error", ({ message }) => resume(Effect.fail(new SpawnFailed({ why: message }))))
      child.once("spawn", () => resume(Effect.succeed(child)))
    }),
    (child) => Effect.sync(() => signalGroup(child, "SIGKILL"))
  )
)
