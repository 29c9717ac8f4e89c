/** The channel broker (data-plane 7): admits members and passes them to the room at the home of their channel. */
import { Context, Effect, Layer } from "effect"
import type { Duplex } from "node:stream"
import { ChannelPlacement } from "./ChannelPlacement.ts"
import { MemberAdmissions } from "./MemberAdmissions.ts"
import type { MemberConnection } from "./MemberConnection.ts"

export class ChannelBroker extends Context.Service<
  ChannelBroker,
  {
    /** Serves the connection of a joining member. It is paused, and nothing of it has been read. */
    readonly serve: (stream: Duplex, carrier: MemberConnection) => Effect.Effect<void>
  }
>()("edge/channels/ChannelBroker") {
  static readonly make = Effect.gen(function* () {
    const admissions = yield* MemberAdmissions
    const homes = yield* ChannelPlacement
    return ChannelBroker.of({
      serve: Effect.fn("ChannelBroker.serve")(function* (stream, carrier) {
        const admitted = yield* admissions.admit(stream, carrier, "join")
        if (admitted !== undefined) yield* homes.enter(stream, admitted.member, admitted.early)
      })
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(
    Layer.provide([MemberAdmissions.layer, ChannelPlacement.layer])
  )
}
