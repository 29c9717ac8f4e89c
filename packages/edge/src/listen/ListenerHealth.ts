/**
 * Whether every listener still accepts: each is tried every ten seconds by a connection of our own. One that is silent is
 * given a minute; a process that is gone or without descriptors is unwell at once.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { TcpListener, ListenerProbe } from "./TcpListener.ts"

const every = "10 seconds"
const oldMillis = 60_000

export class ListenerHealth extends Context.Service<
  ListenerHealth,
  {
    /** Tries the listener for as long as the calling scope lives. */
    readonly watch: (listener: TcpListener) => Effect.Effect<void>
    /** Tries it once. */
    readonly check: (listener: TcpListener) => Effect.Effect<void>
    /** Writes down how a listener was found, or a process of which the listeners are. */
    readonly found: (name: string, trial: ListenerProbe) => Effect.Effect<void>
    /** Takes back the last proof: who is known to be gone is not given the minute. */
    readonly lost: (name: string) => void
    /** The listeners that have not accepted for a minute; not started yet, and lost, count as stalled. */
    readonly stalled: Effect.Effect<ReadonlyArray<string>>
    /** The edge is about to stop: it is not to get more connections. */
    readonly leave: () => void
    readonly isLeaving: () => boolean
    /** Names what must be there before the edge is healthy. */
    readonly expect: (names: ReadonlyArray<string>) => Effect.Effect<void>
    /** Epoch milliseconds since which a listener has to be there. */
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
