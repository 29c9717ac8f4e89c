/** Errors thrown by callbacks of connections: counted, and logged by `ProcessFaults`. */
import * as ProcessFaults from "@catenet/wire/transport/ProcessFaults"
import { Context, Effect, Layer } from "effect"
import { Counters } from "./Counters.ts"

export class ConnectionFaults extends Context.Service<
  ConnectionFaults,
  {
    readonly report: (error: unknown) => void
    /** Reports the error and destroys the connection. */
    readonly ending: (connection: { readonly destroy: () => unknown }) => (error: unknown) => void
  }
>()("edge/observe/ConnectionFaults") {
  static readonly make = Effect.gen(function* () {
    const counters = yield* Counters
    return ConnectionFaults.of(
      yield* ProcessFaults.make(() => {
        counters.connectionFaults += 1
      })
    )
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide([Counters.layer]))
}
