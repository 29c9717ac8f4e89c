/** Where agents listen for mesh clients of their own, as they said by `D` (data-plane 2.2): for as long as the tunnel has an agent. */
import { BoundedMap } from "@catenet/platform/BoundedMap"
import type { DirectListener } from "@catenet/wire/frames/QuicRole"
import { Context, Effect, Layer } from "effect"
import { AgentSessions } from "../sessions/AgentSessions.ts"

/** An agent may say so for any token; the oldest goes. */
const maxListeners = 4_096

export class DirectListeners extends Context.Service<
  DirectListeners,
  {
    readonly of: (token: string) => DirectListener | undefined
    readonly advertise: (token: string, listener: DirectListener) => void
  }
>()("edge/quic/DirectListeners") {
  static readonly make = Effect.gen(function* () {
    const agents = yield* AgentSessions
    const listeners = new BoundedMap<string, DirectListener>(maxListeners)
    agents.observe({
      connected: () => undefined,
      carried: () => undefined,
      disconnected: ({ token }) => void listeners.delete(token)
    })
    return DirectListeners.of({
      of: (token) => listeners.get(token),
      advertise: (token, listener) => void listeners.set(token, listener)
    })
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps.pipe(Layer.provide(AgentSessions.layer))
}
