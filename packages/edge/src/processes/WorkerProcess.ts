/**
 * A worker process: it handles the messages of the main process and ends when that process ends. Signals to the process group are
 * ignored here; the main process acts on them. It logs through the main process, in that process's format.
 */
import { youngCollector } from "@catenet/platform/BufferCollector"
import { Files } from "@catenet/platform/Files"
import { Scheduler } from "@catenet/platform/Scheduler"
import { collectWith } from "@catenet/wire/transport/BufferMemory"
import { Cause, Effect, Logger, Queue, References } from "effect"
import * as WorkerChannel from "./WorkerChannel.ts"
import * as WorkerEdge from "./WorkerEdge.ts"
import { severities, type ToMain, type ToWorker } from "./WorkerMessages.ts"

const logger = (channel: WorkerChannel.WorkerChannel<ToMain, ToWorker>) =>
  Logger.make((options) => {
    const { annotations, cause, level, message } = Logger.formatStructured.log(options)
    const fields = cause === undefined ? annotations : { ...annotations, cause }
    channel.send({
      _tag: "Log",
      level: severities.find((severity) => severity.toUpperCase() === level) ?? "Info",
      message: typeof message === "string" ? message : JSON.stringify(message),
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
    })
  })

const work = Effect.fnUntraced(function* (channel: WorkerChannel.WorkerChannel<ToMain, ToWorker>) {
  const inbox = yield* Queue.unbounded<ToWorker>()
  channel.receive((message) => void Queue.offerUnsafe(inbox, message))
  channel.send({ _tag: "Hello" })
  const init = yield* Queue.take(inbox)
  if (init._tag !== "Init") return yield* Effect.die(new Error("the first message to a worker was not Init"))
  // A killed main process could not remove the folder.
  process.once("disconnect", () => Files.rmSync(init.folder, { recursive: true, force: true }))
  return yield* WorkerEdge.run(channel, inbox, init).pipe(
    Effect.tapCause((cause) => Effect.logError("a process of this edge cannot go on", Cause.pretty(cause))),
    Effect.provideService(References.MinimumLogLevel, init.logLevel)
  )
})

/** Works only in a process with a channel to its parent. */
export const start = (): void => {
  collectWith(youngCollector())
  const channel = WorkerChannel.ofWorker(process)
  process.on("disconnect", () => Scheduler.setImmediate(() => process.exit()))
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
  const fiber = Effect.runFork(Effect.provide(work(channel), Logger.layer([logger(channel)])))
  // The last messages must be sent before the process exits.
  fiber.addObserver(() => Scheduler.setImmediate(() => process.exit(1)))
}
