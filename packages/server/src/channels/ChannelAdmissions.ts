/**
 * What an edge learns of a holder that wants to join a channel. A member is admitted with its keys. A link of a topology with a
 * bound operator admits its ends too, with the Noise key that an end has stored for that channel; an end without one is
 * refused. At the channel of a link the bound operator's key counts, even if somebody has registered the channel before.
 */
import type { ChannelAuthorisation } from "@catenet/domain/api/EdgesApi"
import { MemberNotAdmitted } from "@catenet/domain/channels/ChannelErrors"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { batched } from "../fastpath/Batcher.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import type { ChannelPlace } from "./GrantBinding.ts"

const keyOf = ({ channel, holder }: ChannelPlace) => `${channel} ${holder}`

/** As the tables have it: their constraints hold each column to the form of the API. */
type Admitted = typeof ChannelAuthorisation.Encoded
interface Row extends ChannelPlace {
  readonly operator_pubkey: string
  readonly noise_pubkey: string | null
  readonly noise_attestation: string
}

export class ChannelAdmissions extends Context.Service<
  ChannelAdmissions,
  {
    readonly authorize: (place: ChannelPlace) => Effect.Effect<Admitted, MemberNotAdmitted>
  }
>()("server/channels/ChannelAdmissions") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Looks up many places in one statement, since edges ask in bursts. */
    const memberAt = yield* batched(
      Effect.fnUntraced(function* (places: ReadonlyArray<ChannelPlace>) {
        const channels = places.map(({ channel }) => channel)
        const holders = places.map(({ holder }) => holder)
        const rows = yield* sql<Row>`
          select asked.channel, asked.holder, coalesce(l.operator_pubkey, c.operator_pubkey) as operator_pubkey,
            coalesce(m.noise_pubkey, k.noise_pubkey) as noise_pubkey,
            case when m.noise_pubkey is null then k.noise_attestation else m.noise_attestation end as noise_attestation
          from unnest(${channels}::text[], ${holders}::text[]) asked (channel, holder)
          left join channel_members m on m.channel = asked.channel and m.holder = asked.holder
          left join channels c on c.channel = m.channel
          left join lateral (
            select t.operator_pubkey from topology_edges e join topologies t on t.id = e.topology_id
            where e.link = asked.channel and asked.holder in (e.a, e.b) limit 1) l on true
          left join topology_noise_keys k
            on l.operator_pubkey is not null and k.channel = asked.channel and k.agent = asked.holder
          where m.holder is not null or l.operator_pubkey is not null`.withoutTransform
        const found = new Map<string, Admitted | "unkeyed">()
        for (const { noise_attestation, noise_pubkey, operator_pubkey, ...place } of rows)
          found.set(
            keyOf(place),
            noise_pubkey === null ? "unkeyed" : { operator_pubkey, noise_pubkey, noise_attestation }
          )
        return (place: ChannelPlace) => found.get(keyOf(place))
      })
    )

    return {
      authorize: Effect.fn("ChannelAdmissions.authorize")(function* (place: ChannelPlace) {
        const member = yield* memberAt(place)
        if (member === "unkeyed") yield* Effect.logWarning("topology-unkeyed", place)
        return yield* member === undefined || member === "unkeyed" ? new MemberNotAdmitted() : Effect.succeed(member)
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(ChannelAdmissions, ChannelAdmissions.make)
}
