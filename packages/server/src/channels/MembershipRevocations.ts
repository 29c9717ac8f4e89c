/**
 * Orders to all edges that end what members of a channel have there, waiting or talking. They are written in the transaction
 * that takes the right away and delivered until acknowledged, so that a member that was removed talks no second longer.
 */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { ChannelId, Grant } from "@catenet/domain/channels/Channel"
import { Hex64 } from "@catenet/domain/values/Hex"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { Outbox } from "../edges/Outbox.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"

/** A grant lets its holder in, so that what waits for an edge has only its digest. */
const digestOf = (grant: Grant) => Schema.decodeSync(Hex64)(Hex.encode(native.sha256(bytesOf(grant))))

const queueOf = Schema.decodeSync(RoutingToken)

export class MembershipRevocations extends Context.Service<
  MembershipRevocations,
  {
    /** In the current transaction. Without a holder all members of the channel are meant; what is by `grant` goes on. */
    readonly cut: (
      channel: ChannelId,
      holder?: HolderKey,
      grant?: Grant
    ) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
    /** In the current transaction, all members of these channels. */
    readonly cutAll: (channels: ReadonlyArray<ChannelId>) => Effect.Effect<void, Schema.SchemaError | SqlError.SqlError>
  }
>()("server/channels/MembershipRevocations") {
  static readonly make = Effect.gen(function* () {
    const outbox = yield* Outbox
    // The queue of a channel has its id for a name, which has the form of a token.
    const cut = (channel: ChannelId, holder?: HolderKey, grant?: Grant) =>
      outbox.append(queueOf(channel), {
        _tag: "CutMembers",
        channel,
        ...(holder === undefined ? {} : { holder }),
        ...(grant === undefined ? {} : { keeps: digestOf(grant) })
      })
    return {
      cut,
      cutAll: (channels: ReadonlyArray<ChannelId>) =>
        Effect.forEach(new Set(channels), (channel) => cut(channel), { discard: true })
    }
  })

  static readonly layer = Layer.effect(MembershipRevocations, MembershipRevocations.make).pipe(
    Layer.provide([Outbox.layer])
  )
}
