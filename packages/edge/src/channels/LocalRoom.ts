/**
 * The room of this edge, which is in the main process. A worker forwards its members there over a link that opens after all
 * services have been built.
 */
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import { Context, Effect, Layer } from "effect"
import { Relays } from "../relay/Relays.ts"
import { ProcessIdentity } from "../sessions/ProcessIdentity.ts"
import { ChannelRoom } from "./ChannelRoom.ts"
import * as MemberStreams from "./MemberStreams.ts"

export class LocalRoom extends Context.Service<
  LocalRoom,
  {
    readonly enter: MemberStreams.Enter
    /** Sets the session over which members go to the main process; undefined when the link is lost. */
    readonly linked: (session: CarrierSession | undefined) => void
  }
>()("edge/channels/LocalRoom") {
  static readonly make = Effect.gen(function* () {
    const room = yield* ChannelRoom
    const relays = yield* Relays
    const { edgeProcess } = yield* ProcessIdentity
    const isMain = edgeProcess === undefined || edgeProcess.process === 0
    let link: CarrierSession | undefined

    const bring: MemberStreams.Enter = (stream, member, early) =>
      Effect.gen(function* () {
        if (link !== undefined && (yield* MemberStreams.bring(link, relays, stream, member, early))) return
        // It rejoins at once, and the link is back by then.
        stream.end("EX")
        closeGracefully(stream)
      })

    return LocalRoom.of({
      enter: isMain ? room.enter : bring,
      linked: (session) => {
        link = session
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([ChannelRoom.layer, Relays.layer]))
}
