/** Whether every listener still accepts: each is tried every ten seconds by a connection of our own. */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { Listener } from "../listen/Listener.ts"

const EVERY = "10 seconds"
const OLD_MILLIS = 60_000

export interface HealthShape {
  /** Tries the listener for as long as the calling scope lives. */
  readonly watch: (listener: Listener) => Effect.Effect<void>
  /** The listeners that have not accepted for a minute; not started yet counts as stalled. */
  readonly stalled: Effect.Effect<ReadonlyArray<string>>
  /** Names what must be there before the edge is healthy. */
  readonly expect: (names: ReadonlyArray<string>) => void
  /** Epoch milliseconds of the last proof, by listener. */
  readonly lastAccepted: ReadonlyMap<string, number>
}

const make = Effect.sync(() => {
  const lastAccepted = new Map<string, number>()
  const expected = new Set<string>()
  const tick = Effect.fnUntraced(function* (listener: Listener) {
    if (yield* listener.accepts) lastAccepted.set(listener.name, yield* Clock.currentTimeMillis)
    else yield* Effect.logWarning("a listener does not accept").pipe(Effect.annotateLogs({ listener: listener.name }))
  })
  const shape: HealthShape = {
    watch: (listener) =>
      Effect.gen(function* () {
        lastAccepted.set(listener.name, yield* Clock.currentTimeMillis)
        yield* tick(listener).pipe(Effect.delay(EVERY), Effect.repeat(Schedule.forever))
      }),
    stalled: Effect.map(Clock.currentTimeMillis, (now) =>
      Array.from(expected).filter((name) => now - (lastAccepted.get(name) ?? 0) > OLD_MILLIS)
    ),
    expect: (names) => {
      for (const name of names) expected.add(name)
    },
    lastAccepted
  }
  return shape
})

export class Health extends Context.Service<Health, HealthShape>()("edge/observe/Health") {
  static readonly layer = Layer.effect(Health, make)
}
