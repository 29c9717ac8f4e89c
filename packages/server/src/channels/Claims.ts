/**
 * Taking up a membership: by a verified e-mail that the owner allow-listed. A claim is no grant; the owner still has to
 * deposit one.
 */
import type { Caller } from "@catenet/domain/api/Access"
import type { ChannelId, MemberMaterial } from "@catenet/domain/Channel"
import { VerifiedEmailRequired } from "@catenet/domain/errors/Authentication"
import {
  AttestationRefused,
  HolderClaimedElsewhere,
  NotAllowListed,
  NothingClaimed
} from "@catenet/domain/errors/Channels"
import type { Email } from "@catenet/domain/Email"
import { type ClaimRefusal, type Roster, transition } from "@catenet/domain/rules/ClaimByAllowList"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { paged, type Page } from "../http/Paging.ts"
import { asDefects } from "../store/Defects.ts"
import * as Attestation from "./Attestation.ts"
import { Channels } from "./Channels.ts"
import * as ClaimStore from "./ClaimStore.ts"
import * as Store from "./Store.ts"

type Account = Caller["Service"]

/** What the state machine refuses, as the caller is told. */
const refused = (refusal: ClaimRefusal) => {
  switch (refusal._tag) {
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

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const claims = yield* ClaimStore.make
  const { requireOwner } = yield* Channels

  /** The part of a channel's roster that a claim looks at. */
  const rosterFor = Effect.fnUntraced(function* (
    channel: ChannelId,
    { email }: Account,
    holder: MemberMaterial["holder"]
  ) {
    const isAllowed = email !== null && (yield* claims.isAllowed(channel, email)).length > 0
    const claimant = yield* claims.claimantOf({ channel, holder })
    return {
      allowed: new Set(isAllowed ? [email] : []),
      claims: new Map(Option.toArray(claimant).map(({ subject }) => [holder, subject]))
    } satisfies Roster
  })

  /** Writes a claim that was accepted: the member, and its link to the account. */
  const land = Effect.fnUntraced(function* (channel: ChannelId, caller: Account, material: MemberMaterial) {
    const { holder, noise_attestation: noiseAttestation, noise_pubkey: noisePubkey } = material
    yield* store.putMember({ channel, holder, noisePubkey, noiseAttestation })
    yield* claims.putClaim({ channel, holder, subject: caller.subject })
  })

  return {
    rosterFor,
    land,

    claim: Effect.fn("Claims.claim")(
      function* (caller: Account, channel: ChannelId, material: MemberMaterial) {
        yield* store.lock(channel)
        const roster = yield* rosterFor(channel, caller, material.holder)
        const { holder, noise_attestation: attestation, noise_pubkey: noisePubkey } = material
        const attestationValid = Attestation.holds(channel, material)
        const { email, subject } = caller
        const claim = { subject, email, holder, noisePubkey, attestation, attestationValid }
        yield* Effect.mapError(Effect.fromResult(transition(roster, { _tag: "Claim", claim })), refused)
        yield* land(channel, caller, material)
      },
      store.transaction,
      asDefects
    ),

    /** Channels that the caller's e-mail is allow-listed for; none without a verified e-mail. */
    list: Effect.fn("Claims.list")(function* ({ email, subject }: Account, page: Page) {
      if (email === null) return []
      return yield* paged(
        page,
        Schema.String,
        (slice) => claims.claimsOf({ of: email, subject, ...slice }),
        ({ channel }) => channel
      )
    }, asDefects),

    collectGrants: Effect.fn("Claims.collectGrants")(function* ({ subject }: Account, channel: ChannelId) {
      const identities = yield* claims.identitiesOf({ channel, subject })
      return yield* identities.length === 0 ? new NothingClaimed() : Effect.succeed({ channel, identities })
    }, asDefects),

    allow: Effect.fn("Claims.allow")(function* (caller: Account, channel: ChannelId, email: Email) {
      yield* requireOwner(channel, caller)
      yield* claims.allow(channel, email)
    }, asDefects),

    /** Stops future claims; a membership that was claimed stays until it is removed. */
    disallow: Effect.fn("Claims.disallow")(function* (caller: Account, channel: ChannelId, email: Email) {
      yield* requireOwner(channel, caller)
      yield* claims.disallow(channel, email)
    }, asDefects),

    listAllowed: Effect.fn("Claims.listAllowed")(function* (caller: Account, channel: ChannelId, page: Page) {
      yield* requireOwner(channel, caller)
      const found = yield* paged(
        page,
        Schema.String,
        (slice) => claims.allowed({ of: channel, ...slice }),
        ({ email }) => email
      )
      return found.map(({ email }) => email)
    }, asDefects)
  }
})

export class Claims extends Context.Service<Claims, Effect.Success<typeof make>>()("server/Claims") {
  static readonly layer = Layer.effect(Claims, make)
}
