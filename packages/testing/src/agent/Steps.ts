/**
 * A run that stops for good at one of its steps, as a killed process does: nothing after the step happens, no finalizer either. Real
 * files and real requests; only the step is made to never return, to fail as a full disk does, or to kill the process.
 */
import * as OutgoingHttp from "@catenet/agent/internal/onboard/OutgoingHttp"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Layer, PlatformError } from "effect"
import { HttpClient } from "effect/http"

export type Fate = "killed" | "disk full" | "SIGKILL"

/** What happens at one step of a run; counts the steps. */
export class Steps {
  readonly #at: number
  readonly #fate: Fate
  readonly reached = Promise.withResolvers<"killed">()
  count = 0
  /** The number of the first request. */
  asked = Number.POSITIVE_INFINITY

  constructor(at: number, fate: Fate) {
    this.#at = at
    this.#fate = fate
  }

  take(what: string, mayFail = true): Effect.Effect<void, PlatformError.PlatformError> {
    return Effect.suspend(() => {
      if (what === "request") this.asked = Math.min(this.asked, this.count)
      if (this.count++ !== this.#at) return Effect.void
      if (this.#fate === "SIGKILL") {
        process.kill(process.pid, "SIGKILL")
        return Effect.never
      }
      if (this.#fate === "killed") {
        this.reached.resolve("killed")
        return Effect.never
      }
      const reason = {
        _tag: "Unknown",
        module: "FileSystem",
        method: what,
        cause: new Error("ENOSPC: no space left")
      } as const
      return mayFail ? Effect.fail(PlatformError.systemError(reason)) : Effect.void
    })
  }
}

const fileOf = (file: FileSystem.File, steps: Steps) =>
  new Proxy(file, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (name === "writeAll")
        return (bytes: Uint8Array) =>
          Effect.gen(function* () {
            yield* steps.take("write")
            yield* target.writeAll(bytes.subarray(0, bytes.length / 2))
            yield* steps.take("write")
            yield* target.writeAll(bytes.subarray(bytes.length / 2))
          })
      if (name === "sync") return Effect.andThen(steps.take("sync"), target.sync)
      if (name === "truncate")
        return (length: number) => Effect.andThen(steps.take("truncate", false), target.truncate(length))
      return typeof value === "function" ? value.bind(target) : value
    }
  })

export const files = (steps: Steps) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) => ({
      ...fs,
      makeDirectory: (...args) => Effect.andThen(steps.take("mkdir"), fs.makeDirectory(...args)),
      remove: (...args) => Effect.andThen(steps.take("remove", false), fs.remove(...args)),
      rename: (...args) => Effect.andThen(steps.take("rename", false), fs.rename(...args)),
      open: (...args) => Effect.map(Effect.andThen(steps.take("open"), fs.open(...args)), (file) => fileOf(file, steps))
    }))
  ).pipe(Layer.provide(NodeFileSystem.layer))

/** The answer may be lost on its way, and so may the request. */
export const http = (steps: Steps) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      HttpClient.transform(client, (call) =>
        Effect.gen(function* () {
          yield* Effect.orDie(steps.take("request", false))
          const response = yield* call
          yield* Effect.orDie(steps.take("answer", false))
          return response
        })
      )
    )
  ).pipe(Layer.provide(OutgoingHttp.layer))
