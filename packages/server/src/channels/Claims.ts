/**
 * Taking up a membership by a verified e-mail that the owner allow-listed. A claim is no grant; the owner still has to
 * deposit one.
 */
import type { HttpServerRequest } from "effect/http"
import type { SqlError } from "effect/sql"
import type { LimitReached } from "@catenet/domain/values/RequestErrors"
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, MemberMaterial, Claim, ClaimedIdentity } from "@catenet/domain/channels/Channel"
import { VerifiedEmailRequired } from "@catenet/domain/identity/AuthenticationErrors"
import {
  AttestationRefused,
  HolderClaimedElsewhere,
  NotAllowListed,
  NothingClaimed
} from "@catenet/domain/channels/ChannelErrors"
import type { HolderKey } from "@catenet/domain/values/Keys"
import { audit } from "@catenet/domain/values/AuditEffect"
import { type ClaimRefusal, type Roster, transition } from "@catenet/domain/channels/ClaimByAllowList"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { Audits } from "../identity/Audits.ts"
import * as Attestation from "./Attestation.ts"
import { Members } from "./Members.ts"
import * as ChannelStore from "./ChannelStore.ts"
import { paged, type Page } from "../http/Paging.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import * as Store from "./ClaimStore.ts"

type Account = Caller["Service"]

const refused = ({ _tag }: ClaimRefusal) => {
  switch (_tag) {
    case "NoVerifiedEmail":
      return new VerifiedEmailRequired()
    case "BadAttestation":
      return new AttestationRefused()
    case "NotAllowListed":
      return new NotAllowListed()
    case "HolderClaimedByOther":
      return new HolderClaimedElsewhere()
  }
}

export class Claims extends Context.Service<
  Claims,
  {
    readonly rosterFor: (
      channel: ChannelId,
      account: Account,
      holder: HolderKey
    ) => Effect.Effect<Roster, Schema.SchemaError | SqlError.SqlError>
    readonly land: (
      account: Account,
      channel: ChannelId,
      material: MemberMaterial
    ) => Effect.Effect<void, LimitReached | SqlError.SqlError>
    /** Who has no verified e-mail claims nothing; asked before a body is looked at. */
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
    /** The grants that wait for what the caller has claimed on the channel. */
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

    /** The part of a channel's roster that a claim of this caller for this holder looks at. */
    const rosterFor = Effect.fnUntraced(function* (channel: ChannelId, { email }: Account, holder: HolderKey) {
      const isAllowed = email !== null && (yield* store.isAllowed(channel, email)).length > 0
      const claimant = yield* store.claimantOf({ channel, holder })
      return {
        allowed: new Set(isAllowed ? [email] : []),
        claims: new Map(Option.toArray(claimant).map(({ subject }) => [holder, subject]))
      } satisfies Roster
    })

    /** Writes a claim that was accepted: the member, and its link to the account. */
    const land = Effect.fnUntraced(function* ({ subject }: Account, channel: ChannelId, material: MemberMaterial) {
      const { holder } = material
      yield* members.put(subject, channel, material)
      yield* store.putClaim({ channel, holder, subject })
      yield* audits.append(audit("channel_claimed", subject, channel, holder))
    })

    return {
      rosterFor,
      land,

      requireEmail: ({ email }: Account) => (email === null ? new VerifiedEmailRequired() : Effect.void),

      claim: Effect.fn("Claims.claim")(
        function* (account: Account, channel: ChannelId, material: MemberMaterial) {
          const { email, subject } = account
          const { holder, noise_attestation: attestation, noise_pubkey: noisePubkey } = material
          const attestationValid = Attestation.holds(channel, material)
          yield* channels.lock(channel)
          const claim = { subject, email, holder, noisePubkey, attestation, attestationValid }
          const verdict = transition(yield* rosterFor(channel, account, holder), { _tag: "Claim", claim })
          yield* Effect.mapError(Effect.fromResult(verdict), refused)
          yield* land(account, channel, material)
        },
        store.transaction,
        sqlOrDie
      ),

      list: Effect.fn("Claims.list")(function* ({ email, subject }: Account, page: Page) {
        if (email === null) return []
        return yield* paged(
          page,
          Schema.String,
          (slice) => store.claimsOf({ of: email, subject, ...slice }),
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
