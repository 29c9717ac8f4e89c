/**
 * One worker as the main process sees it, from its start to its end: it is greeted with everything that is known, told every
 * order, and killed when it does not carry one out in time, because an order must be in force once it is answered.
 */
import type { ChildProcess } from "node:child_process"
import { Effect } from "effect"
import * as Ipc from "./WorkerChannel.ts"
import type { Begin, ToMain, ToWorker } from "./Message.ts"
import type { Order } from "../routes/RouteOrder.ts"
import { startWorker } from "./Program.ts"

const APPLY = "5 seconds"

export class WorkerHandle {
  readonly #child: ChildProcess
  readonly #ipc: Ipc.Ipc<ToWorker, ToMain>
  readonly #applied = new Map<number, () => void>()
  readonly #ended: Promise<string>
  #greeted = false
  #lastId = 0

  constructor() {
    this.#child = startWorker()
    this.#ipc = Ipc.ofMain(this.#child)
    const { promise, resolve } = Promise.withResolvers<string>()
    this.#ended = promise
    const gone = (how: string) => {
      for (const applied of this.#applied.values()) applied()
      this.#applied.clear()
      resolve(how)
    }
    this.#child.on("error", (error) => {
      // A message that could not be sent is an error too, and the process's end is told in any case.
      if (this.#child.pid === undefined) gone(error.message)
    })
    // Not at its exit: what it said before that may still come.
    this.#child.once("close", (code, signal) => gone(signal === null ? `exit code ${code}` : `signal ${signal}`))
  }

  /** How it ended, as a sentence fragment. */
  get ended(): Effect.Effect<string> {
    return Effect.promise(() => this.#ended)
  }

  /** `take` gets what the worker says but for the answers to orders; `begin` is asked once, when the worker listens. */
  listen(begin: () => Begin, take: (message: ToMain) => void) {
    this.#ipc.receive((message) => {
      if (message._tag === "Applied") return this.#settle(message.id)
      if (message._tag === "Hello") {
        this.#greeted = true
        return this.#ipc.send(begin())
      }
      return take(message)
    })
  }

  /** What is said before the worker is greeted is part of the greeting. */
  send(message: ToWorker) {
    if (this.#greeted) this.#ipc.send(message)
  }

  /** Lets its visitors finish; one that was not greeted yet has none, and is ended. */
  get drain(): Effect.Effect<void> {
    if (!this.#greeted) return this.end
    return Effect.sync(() => this.#ipc.send({ _tag: "Drain" }))
  }

  /** Sends the order now. */
  tell(order: Order): Effect.Effect<void> {
    if (!this.#greeted) return Effect.void
    const id = ++this.#lastId
    const applied = new Promise<void>((resolve) => this.#applied.set(id, resolve))
    this.#ipc.send({ _tag: "Tell", id, order })
    return Effect.promise(() => applied).pipe(
      Effect.timeoutOrElse({ duration: APPLY, orElse: () => this.kill("it did not carry an order out in time") })
    )
  }

  /** Returns when the process is gone. */
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
