/** The listeners whose port is currently open on UDP too. */
import { Context, Effect, Layer, type Scope } from "effect"

const names = ["mesh", "channel-broker", "channel-relay"] as const

export type QuicPort = (typeof names)[number]

export class QuicPorts extends Context.Service<
  QuicPorts,
  {
    readonly open: () => ReadonlyArray<QuicPort>
    /** Registers a port while the scope is open. */
    readonly bound: (name: QuicPort) => Effect.Effect<void, never, Scope.Scope>
  }
>()("edge/listen/QuicPorts") {
  static readonly make = Effect.sync(() => {
    const open = new Set<QuicPort>()
    return QuicPorts.of({
      open: () => names.filter((name) => open.has(name)),
      bound: (name) =>
        Effect.acquireRelease(
          Effect.sync(() => void open.add(name)),
          () => Effect.sync(() => void open.delete(name))
        )
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
