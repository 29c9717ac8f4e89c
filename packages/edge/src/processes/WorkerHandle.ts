/**
 * One worker in the main process, from start to end. It gets the whole state and then every order. A worker that does not execute
 * an order in time is killed, because an order must be in force everywhere once it is answered.
 */
import { describeEnd } from "@catenet/platform/ChildProcesses"
import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import type { RouteOrder } from "../routes/RouteOrder.ts"
import * as WorkerChannel from "./WorkerChannel.ts"
import type { Init, ToMain, ToWorker } from "./WorkerMessages.ts"
import { startWorker } from "./WorkerProgram.ts"

const applyTimeout = "5 seconds"

export class WorkerHandle {
  readonly #child: ChildProcess
  readonly #channel: WorkerChannel.WorkerChannel<ToWorker, ToMain>
  readonly #applied = new Map<number, () => void>()
  readonly #exit: Promise<string>
  #isInitialized = false
  #lastId = 0

  constructor() {
    this.#child = startWorker()
    this.#channel = WorkerChannel.ofMain(this.#child)
    const { promise, resolve } = Promise.withResolvers<string>()
    this.#exit = promise
    const ended = (how: string) => {
      for (const applied of this.#applied.values()) applied()
      this.#applied.clear()
      resolve(how)
    }
    this.#child.on("error", (error) => {
      // A message that could not be sent is an error too; "close" follows in any case.
      if (this.#child.pid === undefined) ended(error.message)
    })
    // Not at "exit": earlier messages may still arrive.
    this.#child.once("close", (code, signal) => ended(describeEnd({ code, signal })))
  }

  /** How it ended, as part of a sentence. */
  get ended(): Effect.Effect<string> {
    return Effect.promise(() => this.#exit)
  }

  /** `take` gets all messages except answers to orders; `begin` is called once, when the worker is listening. */
  listen(init: () => Init, take: (message: ToMain) => void) {
    this.#channel.receive((message) => {
      if (message._tag === "Applied") return this.#settle(message.id)
      if (message._tag === "Hello") {
        this.#isInitialized = true
        return this.#channel.send(init())
      }
      return take(message)
    })
  }

  /** Sends nothing before `Init`, which contains the whole state. */
  send(message: ToWorker) {
    if (this.#isInitialized) this.#channel.send(message)
  }

  /** Lets its visitors finish; a worker without `Init` has none and is ended. */
  get drain(): Effect.Effect<void> {
    if (!this.#isInitialized) return this.end
    return Effect.sync(() => this.#channel.send({ _tag: "Drain" }))
  }

  /** Sends the order now. */
  apply(order: RouteOrder): Effect.Effect<void> {
    if (!this.#isInitialized) return Effect.void
    const id = ++this.#lastId
    const applied = new Promise<void>((resolve) => this.#applied.set(id, resolve))
    this.#channel.send({ _tag: "Apply", id, order })
    return Effect.promise(() => applied).pipe(
      Effect.timeoutOrElse({ duration: applyTimeout, orElse: () => this.kill("it did not carry an order out in time") })
    )
  }

  /** Returns when the process has ended. */
  kill(reason: string): Effect.Effect<void> {
    return Effect.logWarning("a process of this edge is killed").pipe(
      Effect.annotateLogs({ pid: this.#child.pid, reason }),
      Effect.andThen(this.end)
    )
  }

  get end(): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sync(() => this.#child.kill("SIGKILL")),
      Effect.asVoid(this.ended)
    )
  }

  #settle(id: number) {
    this.#applied.get(id)?.()
    this.#applied.delete(id)
  }
}
