/** The session ticket keys of this edge, shared by all its acceptors. Never written to disk or logs. */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { periodMillis, TicketKeyRing } from "./TicketKeyRing.ts"

export class SessionTickets extends Context.Service<SessionTickets, TicketKeyRing>()("edge/tls/SessionTickets") {
  static readonly make = Effect.gen(function* () {
    const clock = yield* Clock.Clock
    const ring = new TicketKeyRing(() => clock.currentTimeMillisUnsafe())
    yield* Effect.forkScoped(
      Effect.sync(() => ring.renew()).pipe(
        Effect.delay(periodMillis),
        Effect.repeat(Schedule.forever),
        retryForever("renewing the keys of session tickets")
      )
    )
    return ring
  })
  static readonly layer = Layer.effect(this, this.make)
}
