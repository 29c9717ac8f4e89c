/**
 * A worker as a process: it does what the main process says and ends when that is gone, whatever happened to it. Signals that
 * reach the whole group are the main process's to follow. It logs through the main process, in the form that was chosen there.
 */
import { rmSync } from "node:fs"
import { Cause, Effect, Logger, Queue, References } from "effect"
import { collectBuffers } from "./BufferCollector.ts"
import * as Ipc from "./WorkerChannel.ts"
import { severities, type ToMain, type ToWorker } from "./Message.ts"
import * as WorkerEdge from "./WorkerEdge.ts"

const logger = (ipc: Ipc.Ipc<ToMain, ToWorker>) =>
  Logger.make((options) => {
    const { annotations, cause, level, message } = Logger.formatStructured.log(options)
    const fields = cause === undefined ? annotations : { ...annotations, cause }
    ipc.send({
      _tag: "Log",
      level: severities.find((severity) => severity.toUpperCase() === level) ?? "Info",
      message: typeof message === "string" ? message : JSON.stringify(message),
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
    })
  })

const work = Effect.fnUntraced(function* (ipc: Ipc.Ipc<ToMain, ToWorker>) {
  const inbox = yield* Queue.unbounded<ToWorker>()
  ipc.receive((message) => void Queue.offerUnsafe(inbox, message))
  ipc.send({ _tag: "Hello" })
  const begin = yield* Queue.take(inbox)
  if (begin._tag !== "Begin") return yield* Effect.die(new Error("a worker was not greeted"))
  // A main process that was killed could not take the folder with it.
  process.once("disconnect", () => rmSync(begin.folder, { recursive: true, force: true }))
  return yield* WorkerEdge.run(ipc, inbox, begin).pipe(
    Effect.tapCause((cause) => Effect.logError("a process of this edge cannot go on", Cause.pretty(cause))),
    Effect.provideService(References.MinimumLogLevel, begin.logLevel)
  )
})

/** Only in a process that was started with a channel to its parent. */
export const start = (): void => {
  collectBuffers()
  const ipc = Ipc.ofWorker(process)
  process.on("disconnect", () => setImmediate(() => process.exit()))
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
  const fiber = Effect.runFork(Effect.provide(work(ipc), Logger.layer([logger(ipc)])))
  // What was said on the way out has to leave before the process does.
  fiber.addObserver(() => setImmediate(() => process.exit(1)))
}
