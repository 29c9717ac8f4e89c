/**
 * What the edges of topologies add to channel admission: while an operator key is bound, each edge opens one channel to its
 * two ends alone. Whether an end has a Noise key is checked by `ChannelAdmissions`.
 */
import type { ChannelId } from "@catenet/domain/channels/Channel"
import { type HolderKey, OperatorKey } from "@catenet/domain/values/Keys"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

export class TopologyAuthorizations extends Context.Service<
  TopologyAuthorizations,
  {
    /** The operator in whose name an edge admits the holder to the channel, when there is one. */
    readonly operatorFor: (channel: ChannelId, holder: HolderKey) => Effect.Effect<Option.Option<OperatorKey>>
  }
>()("server/channels/TopologyAuthorizations") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const find = SqlSchema.findOneOption({
      Request: Schema.Struct({ channel: Schema.String, holder: Schema.String }),
      Result: Schema.Struct({ operatorPubkey: OperatorKey }),
      execute: ({ channel, holder }) => sql`
        select t.operator_pubkey from topology_edges e join topologies t on t.id = e.topology_id
        where e.link = ${channel} and ${holder} in (e.a, e.b) limit 1`
    })
    return {
      operatorFor: (channel: ChannelId, holder: HolderKey): Effect.Effect<Option.Option<OperatorKey>> =>
        Effect.orDie(find({ channel, holder })).pipe(Effect.map(Option.map(({ operatorPubkey }) => operatorPubkey)))
    }
  })

  static readonly layerNoDeps = Layer.effect(TopologyAuthorizations, TopologyAuthorizations.make)
  static readonly layer = TopologyAuthorizations.layerNoDeps
}
