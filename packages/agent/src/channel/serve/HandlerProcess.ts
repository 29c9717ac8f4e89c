/** A command of the operator, run by the shell in a process group of its own, which ends as a whole. */
import { redact } from "@catenet/domain/values/Redaction"
import { Processes } from "@catenet/platform/Processes"
import { Data, Duration, Effect } from "effect"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"
import { ToolFailed } from "../rpc/Tool.ts"
import { environmentOf } from "./HandlerEnvironment.ts"

/**
 * A service call by a command: the input on stdin, the trimmed stdout as the answer. Everything else is a failure whose text shows
 * the end of stderr without secrets.
 */
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
      else killGroup(child)
    })
    child.stderr.on("data", (chunk: Buffer) => {
      tail.add(chunk)
    })
    readLines(child.stderr, onLine)
    // What the command has left behind would keep its pipes open.
    child.once("exit", () => killGroup(child))
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

/** The lines of what a command prints, without secrets, for the log. A line that does not end is cut. */
const longestLine = 2048

/** `onLine` gets each line once it has ended, and the rest when the stream ends. */
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
  /** What the command finds in CT_SERVICE_TYPE. */
  readonly service: string
  /** Names of further variables that it gets. */
  readonly passes: ReadonlyArray<string>
}

/** The shell could not be started. */
export class SpawnFailed extends Data.TaggedError("SpawnFailed")<{ readonly why: string }> {
  override get message() {
    return `the command could not be started: ${this.why}`
  }
}

/** Ends every process of the group. The group may be gone already. */
export const killGroup = ({ pid }: { readonly pid?: number | undefined }): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // There is no such group any more.
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
      // A command that does not read its input breaks the pipe; that is no fault.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {})
      child.once("error", ({ message }) => resume(Effect.fail(new SpawnFailed({ why: message }))))
      child.once("spawn", () => resume(Effect.succeed(child)))
    }),
    (child) => Effect.sync(() => killGroup(child))
  )
)
