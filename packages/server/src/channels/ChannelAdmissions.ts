/**
 * What an edge learns of a holder that wants to join a channel. A member is admitted with its keys. An edge of a topology with
 * a bound operator authorizes its ends too, but a holder without a stored Noise key is refused.
 */
import { ChannelAuthorisation } from "@catenet/domain/api/EdgesApi"
import { MemberNotAdmitted } from "@catenet/domain/channels/ChannelErrors"
import { Array as Arr, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "../fastpath/Batcher.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import type { Place } from "./GrantPlace.ts"
import { TopologyAuthorizations } from "./TopologyAuthorizations.ts"

const keyOf = ({ channel, holder }: Place) => `${channel} ${holder}`
const decode = Schema.decodeUnknownEffect(Schema.Array(ChannelAuthorisation))

export class ChannelAdmissions extends Context.Service<
  ChannelAdmissions,
  {
    readonly authorize: (place: Place) => Effect.Effect<ChannelAuthorisation, MemberNotAdmitted>
  }
>()("server/channels/ChannelAdmissions") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const topologies = yield* TopologyAuthorizations

    /** Looks up many places in one statement, since edges ask in bursts. */
    const memberAt = yield* batched(
      Effect.fnUntraced(function* (places: ReadonlyArray<Place>) {
        const channels = places.map(({ channel }) => channel)
        const holders = places.map(({ holder }) => holder)
        const rows = yield* sql<Place>`
          select m.channel, m.holder, c.operator_pubkey, m.noise_pubkey, m.noise_attestation
          from unnest(${channels}::text[], ${holders}::text[]) asked (channel, holder)
          join channel_members m on m.channel = asked.channel and m.holder = asked.holder
          join channels c on c.channel = m.channel`.withoutTransform
        const found = new Map(Arr.zip(rows.map(keyOf), yield* decode(rows)))
        return (place: Place) => Option.fromNullishOr(found.get(keyOf(place)))
      })
    )

    return {
      authorize: Effect.fn("ChannelAdmissions.authorize")(function* (place: Place) {
        const member = yield* memberAt(place)
        if (Option.isSome(member)) return member.value
        const linked = yield* topologies.operatorFor(place.channel, place.holder)
        if (Option.isSome(linked)) yield* Effect.logWarning("topology-unkeyed", place)
        return yield* new MemberNotAdmitted()
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(ChannelAdmissions, ChannelAdmissions.make)
  static readonly layer = ChannelAdmissions.layerNoDeps.pipe(Layer.provide([TopologyAuthorizations.layer]))
}
