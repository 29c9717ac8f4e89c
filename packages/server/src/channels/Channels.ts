/**
 * The channel registry of accounts. A channel that is somebody else's and one that nobody registered are the same
 * refusal. Changing the operator key needs a confirmation and leaves its trace in the audit log.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, ChannelRegistration } from "@catenet/domain/Channel"
import { ChannelLimitReached, NotChannelOwner, OperatorMismatch } from "@catenet/domain/errors/Channels"
import { OperatorKey } from "@catenet/domain/Keys"
import { type ChannelEvent, type ChannelRegistration as State, transition } from "@catenet/domain/rules/ChannelOperator"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Audits } from "../audit/Audits.ts"
import { paged, type Page } from "../http/Paging.ts"
import { unixSeconds } from "../Now.ts"
import { asDefects } from "../store/Defects.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

/** Channels that an account may have, unless an operator allowed it more. */
const usualLimit = 100

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const audits = yield* Audits

  const stateOf = (channel: ChannelId) =>
    Effect.map(
      store.find(channel),
      Option.match({
        onNone: (): State => ({ _tag: "Unregistered" }),
        onSome: ({ operatorPubkey, owner }): State => ({ _tag: "Registered", owner, operator: operatorPubkey })
      })
    )

  const checkLimit = Effect.fnUntraced(function* (owner: string, more: number) {
    yield* store.lockAccount(owner)
    const { count, limit } = yield* store.countOf(owner)
    const most = limit ?? usualLimit
    if (count + more > most) return yield* new ChannelLimitReached({ limit: most })
  })

  /** Inside a transaction that holds the channel's lock. */
  const step = Effect.fnUntraced(function* (channel: ChannelId, event: ChannelEvent) {
    const { effects, next } = yield* Effect.fromResult(transition(yield* stateOf(channel), event))
    const createdAt = yield* unixSeconds
    for (const effect of effects) {
      if (effect._tag === "Audit") yield* audits.append(effect)
      else if (effect._tag === "DropChannel") yield* store.drop(channel)
      else if (next._tag === "Registered") {
        yield* store.put({ channel, owner: next.owner, operatorPubkey: effect.operator, createdAt })
      }
    }
  })

  const register = Effect.fnUntraced(function* ({ subject }: Account, registration: ChannelRegistration) {
    const { channel, confirm_rekey: confirmRekey = false, operator_pubkey: operator } = registration
    yield* store.lock(channel)
    if ((yield* stateOf(channel))._tag === "Unregistered") yield* checkLimit(subject, 1)
    yield* step(channel, { _tag: "Register", subject, channel, operator, confirmRekey }).pipe(
      Effect.catchTags({
        NotOwner: () => new NotChannelOwner(),
        OperatorDiffers: ({ registered }) =>
          new OperatorMismatch({ channel, registered: OperatorKey.make(registered), offered: operator })
      })
    )
  })

  return {
    /** Fails unless the account owns the channel. */
    requireOwner: (channel: ChannelId, { subject }: Account) =>
      Effect.flatMap(store.find(channel), (found) =>
        Option.isSome(found) && found.value.owner === subject
          ? Effect.succeed(found.value)
          : Effect.fail(new NotChannelOwner())
      ),
    checkLimit,

    register: Effect.fn("Channels.register")(register, store.transaction, asDefects),

    /** Removes the channel with its members, grants, allow-list, claims and invites. */
    deregister: Effect.fn("Channels.deregister")(
      function* ({ subject }: Account, channel: ChannelId) {
        yield* store.lock(channel)
        yield* step(channel, { _tag: "Deregister", subject, channel }).pipe(
          Effect.catchTags({ NotOwner: () => new NotChannelOwner(), OperatorDiffers: Effect.die })
        )
      },
      store.transaction,
      asDefects
    ),

    list: Effect.fn("Channels.list")(function* ({ subject }: Account, page: Page) {
      const found = yield* paged(
        page,
        Schema.String,
        (slice) => store.list({ of: subject, ...slice }),
        ({ channel }) => channel
      )
      return found.map(({ channel }) => channel)
    }, asDefects),

    get: Effect.fn("Channels.get")(function* ({ subject }: Account, channel: ChannelId) {
      const found = yield* store.describe({ channel, owner: subject })
      return yield* Option.isSome(found) ? Effect.succeed(found.value) : new NotChannelOwner()
    }, asDefects)
  }
})

export class Channels extends Context.Service<Channels, Effect.Success<typeof make>>()("server/Channels") {
  static readonly layer = Layer.effect(Channels, make)
}
