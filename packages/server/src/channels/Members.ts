/** Members of channels and the grants that their owner deposits for them. */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, Grant, MemberMaterial, Member, DepositedGrant } from "@catenet/domain/channels/Channel"
import {
  AttestationRefused,
  type GrantMismatch,
  type GrantUndecodable,
  MemberNotFound,
  type NotChannelOwner
} from "@catenet/domain/channels/ChannelErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import { maxMembersPerChannel } from "@catenet/domain/values/Quotas"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { insertWithinQuota } from "../store/KeysetPage.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as AttestationCheck from "./AttestationCheck.ts"
import { Channels } from "./Channels.ts"
import { ChannelStore } from "./ChannelStore.ts"
import { type ChannelPlace, requireGrantFor } from "./GrantBinding.ts"
import { MembershipRevocations } from "./MembershipRevocations.ts"

type Account = Caller["Service"]

export class Members extends Context.Service<
  Members,
  {
    readonly put: (
      actor: string,
      channel: ChannelId,
      material: MemberMaterial
    ) => Effect.Effect<void, LimitReached | SqlError.SqlError>
    /** Adds a member, or replaces its Noise key and attestation. */
    readonly add: (
      account: Account,
      channel: ChannelId,
      material: MemberMaterial
    ) => Effect.Effect<void, AttestationRefused | LimitReached | NotChannelOwner>
    /** Removes a member with its grant and its claim; succeeds for a holder that is not a member. */
    readonly remove: (account: Account, place: ChannelPlace) => Effect.Effect<void, NotChannelOwner>
    readonly list: (
      account: Account,
      channel: ChannelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Member>, NotChannelOwner, HttpServerRequest.HttpServerRequest>
    /**
     * Deposits a grant for a member to collect. Its ids must be those of the place; the broker checks its signature and its
     * expiry each time it is used.
     */
    readonly depositGrant: (
      account: Account,
      place: ChannelPlace,
      grant: Grant
    ) => Effect.Effect<void, GrantMismatch | GrantUndecodable | MemberNotFound | NotChannelOwner>
    readonly grants: (
      account: Account,
      channel: ChannelId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<DepositedGrant>, NotChannelOwner, HttpServerRequest.HttpServerRequest>
  }
>()("server/channels/Members") {
  static readonly make = Effect.gen(function* () {
    const store = yield* ChannelStore
    const audits = yield* Audits
    const cuts = yield* MembershipRevocations
    const { command, requireOwner } = yield* Channels

    /** Stores a member inside the caller's transaction. A member that is stored with the same keys already is not audited. */
    const put = Effect.fnUntraced(function* (actor: string, channel: ChannelId, material: MemberMaterial) {
      const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
      const entry = audit("channel_member_added", actor, channel, holder)
      const isNew = yield* audits.appendTo(store.putMember({ channel, holder, noisePubkey, noiseAttestation }), entry)
      if (!isNew)
        yield* Effect.flatMap(
          store.isMember({ channel, holder }),
          insertWithinQuota("members of this channel", maxMembersPerChannel)
        )
    })

    const drop = Effect.fnUntraced(function* (actor: string, { channel, holder }: ChannelPlace) {
      const entry = audit("channel_member_removed", actor, channel, holder)
      yield* audits.appendTo(store.dropMember(channel, holder), entry)
      yield* cuts.cut(channel, holder)
    })

    const deposit = Effect.fnUntraced(function* (actor: string, place: ChannelPlace, grant: Grant) {
      if ((yield* store.isMember(place)).length === 0) return yield* new MemberNotFound()
      yield* store.putGrant({ ...place, grantHex: grant })
      // The holder may be talking by a grant that was never deposited.
      yield* cuts.cut(place.channel, place.holder, grant)
      yield* audits.append(audit("channel_grant_deposited", actor, place.channel, place.holder))
    })

    return {
      put,

      add: Effect.fn("Members.add")(function* (account: Account, channel: ChannelId, material: MemberMaterial) {
        if (!AttestationCheck.holds(channel, material)) return yield* new AttestationRefused()
        yield* command(account, channel, put(account.subject, channel, material))
      }, sqlOrDie),

      remove: Effect.fn("Members.remove")(
        (account: Account, place: ChannelPlace) => command(account, place.channel, drop(account.subject, place)),
        sqlOrDie
      ),

      list: Effect.fn("Members.list")(function* (account: Account, channel: ChannelId, page: Page) {
        yield* requireOwner(account, channel)
        return yield* pagedOf(page, channel, store.members, ({ holder }) => holder)
      }, sqlOrDie),

      depositGrant: Effect.fn("Members.depositGrant")(function* (account: Account, place: ChannelPlace, grant: Grant) {
        yield* Effect.fromResult(requireGrantFor(place, grant))
        yield* command(account, place.channel, deposit(account.subject, place, grant))
      }, sqlOrDie),

      grants: Effect.fn("Members.grants")(function* (account: Account, channel: ChannelId, page: Page) {
        yield* requireOwner(account, channel)
        return yield* pagedOf(page, channel, store.grants, ({ holder }) => holder)
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Members, Members.make).pipe(
    Layer.provide([Audits.layer, Channels.layer, ChannelStore.layer, MembershipRevocations.layer])
  )
}
