/**
 * Orders to all edges that end what members of a channel have there, waiting or talking. They are written in the transaction
 * that takes the right away and delivered until acknowledged, so that a member that was removed talks no second longer.
 */
import type { ChannelId } from "@catenet/domain/channels/Channel"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"

const queueOf = Schema.decodeSync(RoutingToken)

export class MembershipRevocations extends Context.Service<
  MembershipRevocations,
  {
    /** In the current transaction. Without a holder all members of the channel are meant. */
    readonly cut: (
      channel: ChannelId,
      holder?: HolderKey
    ) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** In the current transaction, all members of these channels. */
    readonly cutAll: (channels: ReadonlyArray<ChannelId>) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/channels/MembershipRevocations") {
  static readonly make = Effect.gen(function* () {
    const outbox = yield* Outbox
    // The queue of a channel has its id for a name, which has the form of a token.
    const cut = (channel: ChannelId, holder?: HolderKey) =>
      outbox.append(queueOf(channel), {
        _tag: "CutMembers",
        channel,
        ...(holder === undefined ? {} : { holder })
      })
    return {
      cut,
      cutAll: (channels: ReadonlyArray<ChannelId>) =>
        Effect.forEach(new Set(channels), (channel) => cut(channel), { discard: true })
    }
  })

  static readonly layerNoDeps = Layer.effect(MembershipRevocations, MembershipRevocations.make)
  static readonly layer = MembershipRevocations.layerNoDeps.pipe(Layer.provide([Outbox.layer]))
}
