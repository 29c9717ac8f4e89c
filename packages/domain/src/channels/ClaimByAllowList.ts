/**
 * The roster of one channel: whose e-mail addresses may claim a membership, and which account claimed which holder key.
 * A claim is a membership, not a grant: the owner still has to deposit the grant.
 */
import { type Result } from "effect"
import { lowerAscii } from "../values/AsciiCase.ts"
import { refuse, step, type Step } from "../values/Step.ts"

/** `allowed`: e-mails in lower case. `claims`: holder key to the subject of the account that claimed it. */
export interface Roster {
  readonly allowed: ReadonlySet<string>
  readonly claims: ReadonlyMap<string, string>
}

/** A claim as presented. `email` is the session's verified e-mail, `attestationValid` the outcome of its signature. */
export interface Claim {
  readonly subject: string
  readonly email: string | null
  readonly holder: string
  readonly noisePubkey: string
  readonly attestation: string
  readonly attestationValid: boolean
}

export type RosterEvent =
  | { readonly _tag: "Allow"; readonly email: string }
  | { readonly _tag: "Disallow"; readonly email: string }
  | { readonly _tag: "Claim"; readonly claim: Claim }
  | { readonly _tag: "RemoveMember"; readonly holder: string }

/** `PutMember` also replaces the Noise key and attestation of a member that exists; `DropMember` drops its grant as well. */
export type RosterEffect =
  | {
      readonly _tag: "PutMember"
      readonly holder: string
      readonly noisePubkey: string
      readonly attestation: string
    }
  | { readonly _tag: "DropMember"; readonly holder: string }

/** In the order in which they are found. */
export type ClaimRefusal = {
  readonly _tag: "NoVerifiedEmail" | "BadAttestation" | "NotAllowListed" | "HolderClaimedByOther"
}

/** A channel nobody may claim yet. */
export const emptyRoster: Roster = { allowed: new Set(), claims: new Map() }

const claimed = (
  roster: Roster,
  { attestation, attestationValid, email, holder, noisePubkey, subject }: Claim
): Result.Result<Step<Roster, RosterEffect>, ClaimRefusal> => {
  if (email === null) return refuse({ _tag: "NoVerifiedEmail" })
  if (!attestationValid) return refuse({ _tag: "BadAttestation" })
  if (!roster.allowed.has(lowerAscii(email))) return refuse({ _tag: "NotAllowListed" })
  if ((roster.claims.get(holder) ?? subject) !== subject) return refuse({ _tag: "HolderClaimedByOther" })
  const claims = new Map(roster.claims).set(holder, subject)
  return step<Roster, RosterEffect>({ ...roster, claims }, { _tag: "PutMember", holder, noisePubkey, attestation })
}

/**
 * The machine. Taking an e-mail off the list stops later claims and leaves the earlier ones; removing a member frees its
 * holder key for another claim.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { emptyRoster, transition } from "@catenet/domain/channels/ClaimByAllowList"
 *
 * const key = "ab".repeat(32)
 * const claim = { subject: "s1", email: "Ada@example.org", holder: key, noisePubkey: key, attestation: "", attestationValid: true }
 * assert.ok(Result.isFailure(transition(emptyRoster, { _tag: "Claim", claim })))
 * const open = Result.getOrThrow(transition(emptyRoster, { _tag: "Allow", email: "ada@example.org" })).next
 * assert.equal(Result.getOrThrow(transition(open, { _tag: "Claim", claim })).next.claims.get(key), "s1")
 * ```
 */
export const transition = (
  roster: Roster,
  event: RosterEvent
): Result.Result<Step<Roster, RosterEffect>, ClaimRefusal> => {
  switch (event._tag) {
    case "Allow":
      return step({ ...roster, allowed: new Set(roster.allowed).add(lowerAscii(event.email)) })
    case "Disallow":
      return step({ ...roster, allowed: roster.allowed.difference(new Set([lowerAscii(event.email)])) })
    case "RemoveMember": {
      const claims = new Map(roster.claims)
      claims.delete(event.holder)
      return step<Roster, RosterEffect>({ ...roster, claims }, { _tag: "DropMember", holder: event.holder })
    }
    case "Claim":
      return claimed(roster, event.claim)
  }
}
