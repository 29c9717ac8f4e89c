/**
 * Health of the listeners: each is probed every ten seconds by a connection from this process. A silent listener is stalled after
 * a minute; one whose process is gone or out of descriptors is stalled at once.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { TcpListener, ListenerProbe } from "./TcpListener.ts"

const every = "10 seconds"
const oldMillis = 60_000

export class ListenerHealth extends Context.Service<
  ListenerHealth,
  {
    /** Probes the listener while the caller's scope is open. */
    readonly watch: (listener: TcpListener) => Effect.Effect<void>
    /** Probes it once. */
    readonly check: (listener: TcpListener) => Effect.Effect<void>
    /** Records the result of a probe of a listener, or of a process. */
    readonly found: (name: string, trial: ListenerProbe) => Effect.Effect<void>
    /** Removes the last proof: a process that is known to be gone is stalled at once. */
    readonly lost: (name: string) => void
    /** Listeners that have not accepted for a minute, have not started or are lost. */
    readonly stalled: Effect.Effect<ReadonlyArray<string>>
    /** The edge is stopping and should get no more connections. */
    readonly leave: () => void
    readonly isLeaving: () => boolean
    /** While the effect runs, the edge restores its state and has not opened its listeners. */
    readonly restoring: <A, E, R>(restored: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    readonly isRestoring: () => boolean
    /** Names of the listeners without which the edge is not healthy. */
    readonly expect: (names: ReadonlyArray<string>) => Effect.Effect<void>
    /** Epoch milliseconds since when a listener is expected. */
    readonly expectedSince: ReadonlyMap<string, number>
    /** Epoch milliseconds of the last proof, by listener. */
    readonly lastAccepted: ReadonlyMap<string, number>
  }
>()("edge/listen/ListenerHealth") {
  static readonly make = Effect.sync(() => {
    const lastAccepted = new Map<string, number>()
    const expectedSince = new Map<string, number>()
    const exhausted = new Set<string>()
    let leaving = false
    let isRestoring = false
    const found = Effect.fnUntraced(function* (name: string, trial: ListenerProbe) {
      if (trial === "accepts") lastAccepted.set(name, yield* Clock.currentTimeMillis)
      else yield* Effect.logWarning("a listener does not accept").pipe(Effect.annotateLogs({ listener: name, trial }))
      if (trial === "exhausted") exhausted.add(name)
      else exhausted.delete(name)
    })
    const check = (listener: TcpListener) => Effect.flatMap(listener.accepts, (trial) => found(listener.name, trial))
    return ListenerHealth.of({
      check,
      found,
      leave: () => {
        leaving = true
      },
      isLeaving: () => leaving,
      restoring: (restored) =>
        Effect.suspend(() => {
          isRestoring = true
          return Effect.ensuring(
            restored,
            Effect.sync(() => void (isRestoring = false))
          )
        }),
      isRestoring: () => isRestoring,
      lost: (name) => void lastAccepted.delete(name),
      watch: (listener) =>
        Effect.gen(function* () {
          lastAccepted.set(listener.name, yield* Clock.currentTimeMillis)
          yield* check(listener).pipe(
            Effect.delay(every),
            Effect.repeat(Schedule.forever),
            retryForever("checking a listener")
          )
        }),
      stalled: Effect.map(Clock.currentTimeMillis, (now) =>
        Array.from(expectedSince.keys()).filter(
          (name) => exhausted.has(name) || now - (lastAccepted.get(name) ?? 0) > oldMillis
        )
      ),
      expect: (names) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          for (const name of names) expectedSince.set(name, now)
        }),
      expectedSince,
      lastAccepted
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
