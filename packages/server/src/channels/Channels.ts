/**
 * The channel registry of accounts. A channel that is somebody else's and one that nobody registered are the same
 * refusal. Changing the operator key needs a confirmation and leaves its trace in the audit log.
 */
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, ChannelRegistration, Channel } from "@catenet/domain/channels/Channel"
import { ChannelLimitReached, NotChannelOwner, OperatorMismatch } from "@catenet/domain/channels/ChannelErrors"
import { OperatorKey } from "@catenet/domain/values/Keys"
import { audit } from "@catenet/domain/values/AuditEffect"
import {
  type ChannelEvent,
  type ChannelRegistration as State,
  transition
} from "@catenet/domain/channels/ChannelOperator"
import { Context, Effect, Layer, Option, Schema, type Cause } from "effect"
import { Audits } from "../identity/Audits.ts"
import { paged, type Page } from "../http/Paging.ts"
import { unixSeconds } from "../runtime/Now.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./ChannelStore.ts"

type Account = Caller["Service"]

const entryOf = (owner: string, channel: ChannelId, operator: string) =>
  audit("channel_registered", owner, channel, operator)

export class Channels extends Context.Service<
  Channels,
  {
    /** Whether the account may have so many more channels; holds the account's lock until the transaction ends. */
    readonly checkLimit: (
      owner: string,
      more: number
    ) => Effect.Effect<void, ChannelLimitReached | Cause.NoSuchElementError | Schema.SchemaError | SqlError.SqlError>
    /** Fails unless the account owns the channel. */
    readonly requireOwner: (account: Account, channel: ChannelId) => Effect.Effect<void, NotChannelOwner>
    /** Runs a command for the owner of the channel, after every command on it that came before: all of it or nothing. */
    readonly command: <A, E, R>(
      account: Account,
      channel: ChannelId,
      run: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | NotChannelOwner | Schema.SchemaError | SqlError.SqlError, R>
    readonly register: (
      account: Account,
      registration: ChannelRegistration
    ) => Effect.Effect<void, ChannelLimitReached | NotChannelOwner | OperatorMismatch>
    /** Removes the channel with its members, grants, allow-list, claims and invites. */
    readonly deregister: (account: Account, channel: ChannelId) => Effect.Effect<void, NotChannelOwner>
    /** The account's channels, sorted. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ChannelId>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (account: Account, channel: ChannelId) => Effect.Effect<Channel, NotChannelOwner>
  }
>()("server/channels/Channels") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const audits = yield* Audits
    const { channelsPerAccount } = yield* Settings

    const requireRoom = ({ held, most }: Store.Counted, more: number) => {
      const limit = most ?? channelsPerAccount
      return held + more > limit ? Effect.fail(new ChannelLimitReached({ limit })) : Effect.void
    }

    const put = Effect.fnUntraced(function* (channel: ChannelId, owner: string, operator: string) {
      const operatorPubkey = OperatorKey.make(operator)
      const row = { channel, owner, operatorPubkey, createdAt: yield* unixSeconds }
      yield* audits.appendTo(store.insert([row]), entryOf(owner, channel, operatorPubkey))
    })

    const drop = Effect.fnUntraced(function* (channel: ChannelId, owner: string) {
      yield* store.drop(channel)
      yield* audits.append(audit("channel_deregistered", owner, channel))
    })

    /** Inside a transaction that holds the channel's lock; `room` is what a new channel needs. */
    const step = Effect.fnUntraced(function* <E>(
      state: State,
      event: ChannelEvent & { readonly channel: ChannelId },
      room: Effect.Effect<void, E>
    ) {
      const { channel, subject } = event
      const { effects } = yield* Effect.fromResult(transition(state, event))
      for (const effect of effects) {
        if (effect._tag === "Audit") yield* audits.append(effect)
        else if (effect._tag === "DropChannel") yield* drop(channel, subject)
        else if (state._tag === "Registered") yield* store.rekey(channel, effect.operator)
        else yield* Effect.andThen(room, put(channel, subject, effect.operator))
      }
    })

    /** A registration that may be a repetition, a new key, somebody else's channel or one too many. */
    const registerKnown = Effect.fnUntraced(function* ({ subject }: Account, registration: ChannelRegistration) {
      const { channel, confirm_rekey: confirmRekey = false, operator_pubkey: operator } = registration
      const { operatorPubkey, owner, ...counted } = yield* store.toRegister({ channel, owner: subject })
      const state: State =
        owner === null || operatorPubkey === null
          ? { _tag: "Unregistered" }
          : { _tag: "Registered", owner, operator: operatorPubkey }
      const event = { _tag: "Register", subject, channel, operator, confirmRekey } as const
      yield* step(state, event, requireRoom(counted, 1)).pipe(
        Effect.catchTags({
          NotOwner: () => new NotChannelOwner(),
          OperatorDiffers: ({ registered }) =>
            new OperatorMismatch({ channel, registered: OperatorKey.make(registered), offered: operator })
        })
      )
    }, store.transaction)

    const owned = Effect.fnUntraced(function* ({ subject }: Account, channel: ChannelId) {
      const found = yield* store.find(channel)
      if (Option.isNone(found) || found.value.owner !== subject) return yield* new NotChannelOwner()
    })

    return {
      checkLimit: (owner: string, more: number) =>
        Effect.flatMap(store.counted(owner), (counted) => requireRoom(counted, more)),

      requireOwner: (account: Account, channel: ChannelId) => sqlOrDie(owned(account, channel)),

      command: <A, E, R>(account: Account, channel: ChannelId, run: Effect.Effect<A, E, R>) =>
        store.transaction(Effect.andThen(store.lock(channel), Effect.andThen(owned(account, channel), run))),

      register: Effect.fn("Channels.register")(function* (account: Account, registration: ChannelRegistration) {
        const { channel, operator_pubkey: operatorPubkey } = registration
        const entry = entryOf(account.subject, channel, operatorPubkey)
        const row = { channel, owner: account.subject, operatorPubkey, createdAt: yield* unixSeconds }
        const written = yield* store.register({ ...entry, row, usualMost: channelsPerAccount })
        yield* audits.complain(entry, written)
        if (!written.isNew) yield* registerKnown(account, registration)
      }, sqlOrDie),

      deregister: Effect.fn("Channels.deregister")(
        function* ({ subject }: Account, channel: ChannelId) {
          yield* store.lock(channel)
          const found = yield* store.find(channel)
          const state: State = Option.match(found, {
            onNone: () => ({ _tag: "Unregistered" }),
            onSome: ({ operatorPubkey, owner }) => ({ _tag: "Registered", owner, operator: operatorPubkey })
          })
          yield* step(state, { _tag: "Deregister", subject, channel }, Effect.void).pipe(
            Effect.catchTags({ NotOwner: () => new NotChannelOwner(), OperatorDiffers: Effect.die })
          )
        },
        store.transaction,
        sqlOrDie
      ),

      list: Effect.fn("Channels.list")(function* ({ subject }: Account, page: Page) {
        const found = yield* paged(
          page,
          Schema.String,
          (slice) => store.list({ of: subject, ...slice }),
          ({ channel }) => channel
        )
        return found.map(({ channel }) => channel)
      }, sqlOrDie),

      get: Effect.fn("Channels.get")(function* ({ subject }: Account, channel: ChannelId) {
        const found = yield* store.describe({ channel, owner: subject })
        return yield* Option.isSome(found) ? Effect.succeed(found.value) : new NotChannelOwner()
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Channels, Channels.make)
  static readonly layer = Channels.layerNoDeps.pipe(Layer.provide([Audits.layer]))
}
