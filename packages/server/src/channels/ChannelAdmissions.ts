/**
 * What an edge is told about a holder that wants to join a channel. Members come first; an edge of a topology with a
 * bound operator authorises too, but nobody is admitted whose Noise key is not on record.
 */
import { ChannelAuthorisation } from "@catenet/domain/api/EdgesApi"
import { ChannelId } from "@catenet/domain/Channel"
import { MemberNotAdmitted } from "@catenet/domain/errors/Edges"
import { HolderKey } from "@catenet/domain/Keys"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { asDefects } from "../store/Defects.ts"
import { TopologyAuthorisations } from "../topologies/Authorisations.ts"
import type { Place } from "./Members.ts"

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const topologies = yield* TopologyAuthorisations

  const memberAt = SqlSchema.findOneOption({
    Request: Schema.Struct({ channel: ChannelId, holder: HolderKey }),
    Result: ChannelAuthorisation,
    execute: ({ channel, holder }) =>
      sql`
      select c.operator_pubkey, m.noise_pubkey, m.noise_attestation
      from channel_members m join channels c on c.channel = m.channel
      where m.channel = ${channel} and m.holder = ${holder}`.withoutTransform
  })

  return {
    authorise: Effect.fn("ChannelAdmissions.authorise")(function* (place: Place) {
      const member = yield* memberAt(place)
      if (Option.isSome(member)) return member.value
      const linked = yield* topologies.operatorFor(place.channel, place.holder)
      if (Option.isSome(linked)) yield* Effect.logWarning("topology-unkeyed", place)
      return yield* new MemberNotAdmitted()
    }, asDefects)
  }
})

export class ChannelAdmissions extends Context.Service<ChannelAdmissions, Effect.Success<typeof make>>()(
  "server/ChannelAdmissions"
) {
  static readonly layer = Layer.effect(ChannelAdmissions, make)
}
