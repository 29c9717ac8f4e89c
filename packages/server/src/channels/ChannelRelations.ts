/** Which accounts have a relation to a channel, as its owner or by its allow-list. */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId } from "@catenet/domain/channels/Channel"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { sqlOrDie } from "../store/SqlOrDie.ts"

export class ChannelRelations extends Context.Service<
  ChannelRelations,
  {
    /** Whether the caller may note the channel on a link: it owns it, or its verified e-mail is on the allow-list. */
    readonly mayNote: (channel: ChannelId, caller: Caller["Service"]) => Effect.Effect<boolean>
  }
>()("server/channels/ChannelRelations") {
  static readonly make = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      mayNote: Effect.fn("ChannelRelations.mayNote")(function* (channel: ChannelId, caller: Caller["Service"]) {
        const related = yield* sql`
          select 1 from channels where channel = ${channel} and owner = ${caller.subject}
          union all
          select 1 from channel_allowlist where channel = ${channel} and email = ${caller.email}`
        return related.length > 0
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(ChannelRelations, ChannelRelations.make)
}
