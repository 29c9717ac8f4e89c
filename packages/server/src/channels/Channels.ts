/**
 * The channel registry of accounts. A channel of another account and a channel that is not registered have the same
 * refusal. Changing the operator key needs a confirmation and is audited.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, ChannelRegistration, Channel } from "@catenet/domain/channels/Channel"
import {
  ChannelLimitReached,
  ChannelNotFound,
  NotChannelOwner,
  LinkOperatorDiffers,
  type OperatorMismatch,
  type OperatorProofRefused
} from "@catenet/domain/channels/ChannelErrors"
import { deregister, type OperatorProof, register, registered } from "@catenet/domain/channels/ChannelOperator"
import { Context, Effect, Layer, Option, type Schema, type Cause } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { over } from "../runtime/Over.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import { ChannelStore, type ChannelSummary, type Counted } from "./ChannelStore.ts"
import { MembershipRevocations } from "./MembershipRevocations.ts"
import * as OperatorProofs from "./OperatorProofs.ts"

type Account = Caller["Service"]

/** On pages and on the routes where owner isolation answers 404, a channel of another account is unknown. */
export const hideForeign = <A, E, R>(self: Effect.Effect<A, E | NotChannelOwner, R>) =>
  Effect.catchIf(
    self,
    (error): error is NotChannelOwner => error instanceof NotChannelOwner,
    () => new ChannelNotFound()
  )

const dependencies = Effect.gen(function* () {
  const store = yield* ChannelStore
  const audits = yield* Audits
  const cuts = yield* MembershipRevocations
  const { channelsPerAccount } = yield* Settings
  return { audits, channelsPerAccount, cuts, store }
})
type State = Effect.Success<typeof dependencies>

const requireRoom = ({ channelsPerAccount }: State, { held, most }: Counted, more: number) => {
  const limit = most ?? channelsPerAccount
  return held + more > limit ? Effect.fail(new ChannelLimitReached({ limit })) : Effect.void
}

/** A registration with a proof, or that repeats one, changes the key, names a channel of another account, or is one too many. */
const registerKnown = Effect.fnUntraced(
  function* (state: State, { subject }: Account, registration: ChannelRegistration, shown: OperatorProof) {
    const { channel, operator_pubkey } = registration
    yield* state.store.lock(channel)
    const {
      held,
      most,
      operatorPubkey,
      owner,
      proof: known
    } = yield* state.store.toRegister({ channel, owner: subject })
    const stored =
      owner === null || operatorPubkey === null || known === null ? null : { owner, operatorPubkey, proof: known }
    const isBound =
      stored !== null &&
      stored.owner !== subject &&
      (yield* state.store.boundByOwner({ channel, offered: operator_pubkey, owner: subject })).length > 0
    const proof = isBound ? "derived" : shown
    const { effects, next } = yield* Effect.fromResult(register(stored, subject, registration, proof))
    const { operator_pubkey: offered } = registration
    if (next !== stored && (yield* state.store.boundToOther({ channel, offered })).length > 0)
      return yield* new LinkOperatorDiffers({ channel, offered })
    if (stored === null || stored.owner !== subject) {
      yield* requireRoom(state, { held, most }, 1)
      if (stored !== null) {
        yield* state.store.drop(channel)
        yield* state.cuts.cut(channel)
      }
      yield* state.store.insert([{ channel, ...next, createdAt: yield* unixSeconds }])
    } else if (next !== stored) {
      yield* state.store.setOperator(channel, next.operatorPubkey, next.proof)
      if (next.operatorPubkey !== stored.operatorPubkey) yield* state.cuts.cut(channel)
    }
    yield* Effect.forEach(effects, state.audits.append, { discard: true })
  },
  (self, state) => state.store.transaction(self)
)

const owned = Effect.fnUntraced(function* ({ store }: State, { subject }: Account, channel: ChannelId) {
  const found = yield* store.find(channel)
  if (Option.isNone(found) || found.value.owner !== subject) return yield* new NotChannelOwner()
})

const checkLimit = (state: State, owner: string, more: number) =>
  Effect.flatMap(state.store.counted(owner), (counted) => requireRoom(state, counted, more))

const command = <A, E, R>(state: State, account: Account, channel: ChannelId, run: Effect.Effect<A, E, R>) =>
  state.store.transaction(
    Effect.andThen(state.store.lock(channel), Effect.andThen(owned(state, account, channel), run))
  )

const list = Effect.fn("Channels.list")(function* ({ store }: State, { subject }: Account, page: Page) {
  const found = yield* pagedOf(page, subject, store.list, ({ channel }) => channel)
  return found.map(({ channel }) => channel)
}, sqlOrDie)

const get = Effect.fn("Channels.get")(function* ({ store }: State, { subject }: Account, channel: ChannelId) {
  const found = yield* store.describe({ channel, owner: subject })
  return yield* Option.isSome(found) ? Effect.succeed(found.value) : new NotChannelOwner()
}, sqlOrDie)

const summaries = Effect.fn("Channels.summaries")(
  ({ store }: State, { subject: owner }: Account, channel: ChannelId | null = null) =>
    store.summaries({ owner, channel }),
  sqlOrDie
)

export class Channels extends Context.Service<
  Channels,
  {
    /** Fails where the account may not have so many more channels; holds the account's lock until the transaction ends. */
    readonly checkLimit: (
      owner: string,
      more: number
    ) => Effect.Effect<void, ChannelLimitReached | Cause.NoSuchElementError | Schema.SchemaError | SqlError.SqlError>
    /** Fails unless the account owns the channel. */
    readonly requireOwner: (account: Account, channel: ChannelId) => Effect.Effect<void, NotChannelOwner>
    /** Runs a command for the owner of the channel in one transaction; commands on one channel run one after the other. */
    readonly command: <A, E, R>(
      account: Account,
      channel: ChannelId,
      run: Effect.Effect<A, E, R>
    ) => Effect.Effect<A, E | NotChannelOwner | Schema.SchemaError | SqlError.SqlError, R>
    /**
     * With a proof of its operator key a channel is taken over from an account that has none: all that hangs on it goes, and
     * its members are cut off. The operator of a topology has proved the key of its links already.
     */
    readonly register: (
      account: Account,
      registration: ChannelRegistration
    ) => Effect.Effect<
      void,
      ChannelLimitReached | LinkOperatorDiffers | NotChannelOwner | OperatorMismatch | OperatorProofRefused
    >
    /** Removes the channel with its members, grants, allow-list, claims and invites. */
    readonly deregister: (account: Account, channel: ChannelId) => Effect.Effect<void, NotChannelOwner>
    /** The account's channels, sorted. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<ChannelId>, never, HttpServerRequest.HttpServerRequest>
    readonly get: (account: Account, channel: ChannelId) => Effect.Effect<Channel, NotChannelOwner>
    /** The account's channels as a page lists them, by their labels; of the named one alone, if it is the account's. */
    readonly summaries: (account: Account, channel?: ChannelId | null) => Effect.Effect<ReadonlyArray<ChannelSummary>>
    /** Sets what the owner calls a channel; null takes the label away. */
    readonly label: (account: Account, channel: ChannelId, label: string | null) => Effect.Effect<void, NotChannelOwner>
  }
>()("server/channels/Channels") {
  static readonly make = Effect.map(dependencies, (state) => ({
    ...over(state, { checkLimit, list, get, summaries }),
    requireOwner: (account: Account, channel: ChannelId) => sqlOrDie(owned(state, account, channel)),
    register: Effect.fn("Channels.register")(function* (account: Account, registration: ChannelRegistration) {
      const { channel, operator_pubkey: operatorPubkey } = registration
      const proof = yield* Effect.fromResult(OperatorProofs.ofRegistration(account.subject, registration))
      if (proof !== "none") return yield* registerKnown(state, account, registration, proof)
      const entry = registered(account.subject, registration)
      const row = { channel, owner: account.subject, operatorPubkey, createdAt: yield* unixSeconds }
      const written = yield* state.store.register({ ...entry, row, usualMost: state.channelsPerAccount })
      yield* state.audits.complain(entry, written)
      if (!written.isNew) yield* registerKnown(state, account, registration, proof)
    }, sqlOrDie),
    deregister: Effect.fn("Channels.deregister")(function* ({ subject }: Account, channel: ChannelId) {
      yield* state.store.lock(channel)
      const stored = Option.getOrNull(yield* state.store.find(channel))
      const { effects } = yield* Effect.fromResult(deregister(stored, subject, channel))
      yield* state.store.drop(channel)
      yield* state.cuts.cut(channel)
      yield* Effect.forEach(effects, state.audits.append, { discard: true })
    }, inTransactionOf(state.store)),
    label: Effect.fn("Channels.label")(
      (account: Account, channel: ChannelId, label: string | null) =>
        command(state, account, channel, state.store.setLabel(channel, label)),
      sqlOrDie
    ),
    command: <A, E, R>(account: Account, channel: ChannelId, run: Effect.Effect<A, E, R>) =>
      command(state, account, channel, run)
  }))

  static readonly layerNoDeps = Layer.effect(Channels, Channels.make)
  static readonly layer = Channels.layerNoDeps.pipe(
    Layer.provide([Audits.layer, MembershipRevocations.layer, ChannelStore.layer])
  )
}
