/**
 * Claims of memberships by a verified e-mail that the owner allow-listed. A claim is not a grant: the owner still has to
 * deposit one.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import {
  type AttestationRefused,
  type HolderClaimedElsewhere,
  type NotAllowListed,
  NothingClaimed
} from "@catenet/domain/channels/ChannelErrors"
import { type AcceptedClaim, type Claim, claim, type ClaimedIdentity } from "@catenet/domain/channels/Claim"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as AttestationCheck from "./AttestationCheck.ts"
import * as ChannelStore from "./ChannelStore.ts"
import * as Store from "./ClaimStore.ts"
import { Members } from "./Members.ts"

type Account = Caller["Service"]

export class Claims extends Context.Service<
  Claims,
  {
    /** Writes an accepted claim: the member, and its link to the account. Part of the caller's transaction. */
    readonly put: (channel: ChannelId, claim: AcceptedClaim) => Effect.Effect<void, LimitReached | SqlError.SqlError>
    /** Fails without a verified e-mail; a handler asks this before it reads a body. */
    readonly requireEmail: (account: Account) => Effect.Effect<void, VerifiedEmailRequired>
    readonly claim: (
      account: Account,
      channel: ChannelId,
      material: MemberMaterial
    ) => Effect.Effect<
      void,
      AttestationRefused | HolderClaimedElsewhere | LimitReached | NotAllowListed | VerifiedEmailRequired
    >
    /** Channels that the caller's e-mail is allow-listed for; none without a verified e-mail. */
    readonly list: (
      account: Account,
      page: Page
    ) => Effect.Effect<ReadonlyArray<Claim>, never, HttpServerRequest.HttpServerRequest>
    /** The grants that are deposited for the holders which the caller has claimed on the channel. */
    readonly collectGrants: (
      account: Account,
      channel: ChannelId
    ) => Effect.Effect<
      { readonly channel: ChannelId; readonly identities: ReadonlyArray<ClaimedIdentity> },
      NothingClaimed
    >
  }
>()("server/channels/Claims") {
  static readonly make = Effect.gen(function* () {
    const store = yield* Store.make
    const channels = yield* ChannelStore.make
    const members = yield* Members
    const audits = yield* Audits

    const put = Effect.fnUntraced(function* (channel: ChannelId, { material, subject }: AcceptedClaim) {
      const { holder } = material
      yield* members.put(subject, channel, material)
      yield* store.putClaim({ channel, holder, subject })
      yield* audits.append(audit("channel_claimed", subject, channel, holder))
    })

    return {
      put,

      requireEmail: ({ email }: Account) => (email === null ? new VerifiedEmailRequired() : Effect.void),

      claim: Effect.fn("Claims.claim")(
        function* (account: Account, channel: ChannelId, material: MemberMaterial) {
          const attestationValid = AttestationCheck.holds(channel, material)
          yield* channels.lock(channel)
          const isAllowed = account.email !== null && (yield* store.isAllowed(channel, account.email)).length > 0
          const claimedBy = yield* store.claimedBy({ channel, holder: material.holder })
          const claimed = claim({ isAllowed, claimedBy }, account, material, attestationValid)
          yield* put(channel, yield* Effect.fromResult(claimed))
        },
        store.transaction,
        sqlOrDie
      ),

      list: Effect.fn("Claims.list")(function* ({ email, subject }: Account, page: Page) {
        if (email === null) return []
        return yield* pagedOf(
          page,
          email,
          (slice) => store.claimsOf({ subject, ...slice }),
          ({ channel }) => channel
        )
      }, sqlOrDie),

      collectGrants: Effect.fn("Claims.collectGrants")(function* ({ subject }: Account, channel: ChannelId) {
        const identities = yield* store.identitiesOf({ channel, subject })
        return yield* identities.length === 0 ? new NothingClaimed() : Effect.succeed({ channel, identities })
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Claims, Claims.make)
  static readonly layer = Claims.layerNoDeps.pipe(Layer.provide([Audits.layer, Members.layer]))
}
