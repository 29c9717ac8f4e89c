/**
 * Claims of memberships by a verified e-mail that the owner allow-listed. A claim is not a grant: the owner still has to
 * deposit one.
 */
import * as ClaimProof from "@catenet/crypto/ClaimProof"
import { native } from "@catenet/crypto/native"
import type { Caller } from "@catenet/domain/api/Access"
import { type ChannelId, MemberMaterial } from "@catenet/domain/channels/Channel"
import {
  type AttestationRefused,
  type ClaimProofRefused,
  type HolderClaimedElsewhere,
  type NotAllowListed,
  NothingClaimed
} from "@catenet/domain/channels/ChannelErrors"
import {
  type AcceptedClaim,
  type AccountProof,
  type Claim,
  claim,
  type ClaimedIdentity,
  type ClaimRequest
} from "@catenet/domain/channels/Claim"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import { audit } from "@catenet/domain/values/AuditEffect"
import type { Subject } from "@catenet/domain/values/Ids"
import type { HolderKey, Signature } from "@catenet/domain/values/Keys"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import { Context, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import { type Page, pagedOf } from "../http/Paging.ts"
import { Audits } from "../identity/Audits.ts"
import { bytesOf } from "../runtime/TokenSecrets.ts"
import { inTransactionOf, sqlOrDie } from "../store/SqlOrDie.ts"
import * as AttestationCheck from "./AttestationCheck.ts"
import { ChannelStore } from "./ChannelStore.ts"
import { ClaimStore } from "./ClaimStore.ts"
import { Members } from "./Members.ts"

type Account = Caller["Service"]

const proofOf = (
  { channel, holder, subject }: { readonly channel: ChannelId; readonly holder: HolderKey; readonly subject: Subject },
  proof: Signature | undefined
): AccountProof => {
  if (proof === undefined) return "none"
  const claiming = { channel: bytesOf(channel), holder: bytesOf(holder), subject }
  return ClaimProof.verify(native, claiming, bytesOf(proof)) ? "valid" : "invalid"
}

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
      request: ClaimRequest
    ) => Effect.Effect<
      void,
      | AttestationRefused
      | ClaimProofRefused
      | HolderClaimedElsewhere
      | LimitReached
      | NotAllowListed
      | VerifiedEmailRequired
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
    const store = yield* ClaimStore
    const channels = yield* ChannelStore
    const members = yield* Members
    const audits = yield* Audits

    const put = Effect.fnUntraced(function* (channel: ChannelId, { isProved, material, subject }: AcceptedClaim) {
      const { holder } = material
      yield* members.put(subject, channel, material)
      yield* store.putClaim({ channel, holder, subject, isProved })
      yield* audits.append(audit("channel_claimed", subject, channel, holder))
    })

    return {
      put,

      requireEmail: ({ email }: Account) => (email === null ? new VerifiedEmailRequired() : Effect.void),

      claim: Effect.fn("Claims.claim")(function* (account: Account, channel: ChannelId, request: ClaimRequest) {
        const { account_proof, holder, noise_attestation, noise_pubkey } = request
        const material = new MemberMaterial({ holder, noise_attestation, noise_pubkey })
        const proofs = {
          attestationValid: AttestationCheck.holds(channel, material),
          accountProof: proofOf({ channel, holder, subject: account.subject }, account_proof)
        }
        yield* channels.lock(channel)
        const isAllowed = account.email !== null && (yield* store.isAllowed(channel, account.email)).length > 0
        const found = Option.getOrNull(yield* store.claimOf({ channel, holder }))
        const record = { isAllowed, claimedBy: found?.subject ?? null, isProved: found?.isProved ?? false }
        const claimed = claim(record, account, material, proofs)
        yield* put(channel, yield* Effect.fromResult(claimed))
      }, inTransactionOf(store)),

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

  static readonly layer = Layer.effect(Claims, Claims.make).pipe(
    Layer.provide([Audits.layer, ChannelStore.layer, ClaimStore.layer, Members.layer])
  )
}
