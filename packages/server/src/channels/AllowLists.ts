/** The verified e-mail addresses that may claim a membership of a channel. */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId } from "@catenet/domain/channels/Channel"
import type { NotChannelOwner } from "@catenet/domain/channels/ChannelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Email } from "@catenet/domain/values/Email"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { Channels } from "./Channels.ts"
import { ClaimStore } from "./ClaimStore.ts"

type Account = Caller["Service"]

export class AllowLists extends Context.Service<
  AllowLists,
  {
    readonly allow: (
      account: Account,
      channel: ChannelId,
      email: Email
    ) => Effect.Effect<void, LimitReached | NotChannelOwner>
    /** Stops later claims; a membership that was claimed stays until it is removed. */
    readonly disallow: (account: Account, channel: ChannelId, email: Email) => Effect.Effect<void, NotChannelOwner>
    readonly list: (
      account: Account,
      channel: ChannelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Email>, NotChannelOwner, HttpServerRequest.HttpServerRequest>
  }
>()("server/channels/AllowLists") {
  static readonly make = Effect.gen(function* () {
    const store = yield* ClaimStore
    const audits = yield* Audits
    const { command, requireOwner } = yield* Channels

    /** Stores a change for the owner of the channel, and records it where `write` answers a row. */
    const change = <E>(
      account: Account,
      channel: ChannelId,
      email: Email,
      action: string,
      write: Effect.Effect<ReadonlyArray<unknown>, E>
    ) =>
      command(
        account,
        channel,
        Effect.flatMap(write, (rows) =>
          rows.length === 0 ? Effect.void : audits.append(audit(action, account.subject, channel, email))
        )
      )

    return {
      allow: Effect.fn("AllowLists.allow")(
        (account: Account, channel: ChannelId, email: Email) =>
          change(account, channel, email, "channel_email_allowed", store.allow(channel, email)),
        sqlOrDie
      ),

      disallow: Effect.fn("AllowLists.disallow")(
        (account: Account, channel: ChannelId, email: Email) =>
          change(account, channel, email, "channel_email_disallowed", store.disallow(channel, email)),
        sqlOrDie
      ),

      list: Effect.fn("AllowLists.list")(function* (account: Account, channel: ChannelId, page: Page) {
        yield* requireOwner(account, channel)
        const found = yield* pagedOf(page, channel, store.allowed, ({ email }) => email)
        return found.map(({ email }) => email)
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(AllowLists, AllowLists.make).pipe(
    Layer.provide([Audits.layer, Channels.layer, ClaimStore.layer])
  )
}
