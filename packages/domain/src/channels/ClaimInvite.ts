/**
 * An invitation to claim one membership: good for fifteen minutes and for one use. It is burned together with the claim that
 * it leads to, so a claim that is refused does not cost the invitation.
 */
import { Result } from "effect"
import { refuse, type Step } from "../values/Step.ts"
import { claimInviteSeconds } from "./Channel.ts"
import {
  type ClaimRefusal,
  type Roster,
  type RosterEffect,
  transition as rosterTransition
} from "./ClaimByAllowList.ts"

/** The membership that is offered. `label` is the owner's note. */
export interface Offered {
  readonly channel: string
  readonly holder: string
  readonly noisePubkey: string
  readonly attestation: string
  readonly label: string | null
}

/** `expiresAt` is unix seconds; the invitation is dead from that second on. */
export type ClaimInvite =
  { readonly _tag: "Open"; readonly offered: Offered; readonly expiresAt: number } | { readonly _tag: "Burned" }

/** Used or expired. */
export interface InviteGone {
  readonly _tag: "InviteGone"
  readonly reason: "used" | "expired"
}

/** What the minting is refused for. */
export type MintRefusal = { readonly _tag: "BadAttestation" | "InvalidLabel" }

const printable = /^[^\p{Cc}\p{Cs}]{1,64}$/u

/**
 * Mints an invitation. The label is trimmed; what remains has 1 to 64 characters and no control character.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { mint } from "@catenet/domain/channels/ClaimInvite"
 *
 * const offered = { channel: "c", holder: "h", noisePubkey: "n", attestation: "a", label: " laptop " }
 * const invite = Result.getOrThrow(mint(offered, true, 1000))
 * assert.deepEqual(invite, { _tag: "Open", offered: { ...offered, label: "laptop" }, expiresAt: 1900 })
 * assert.ok(Result.isFailure(mint(offered, false, 1000)))
 * ```
 */
export const mint = (
  offered: Offered,
  attestationValid: boolean,
  now: number
): Result.Result<ClaimInvite, MintRefusal> => {
  const label = offered.label?.trim() ?? null
  if (label !== null && !printable.test(label)) return refuse({ _tag: "InvalidLabel" })
  if (!attestationValid) return refuse({ _tag: "BadAttestation" })
  return Result.succeed({ _tag: "Open", offered: { ...offered, label }, expiresAt: now + claimInviteSeconds })
}

/**
 * What the page shows before the confirmation. Looking claims nothing.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { show } from "@catenet/domain/channels/ClaimInvite"
 *
 * const offered = { channel: "c", holder: "h", noisePubkey: "n", attestation: "a", label: null }
 * assert.deepEqual(Result.getOrThrow(show({ _tag: "Open", offered, expiresAt: 50 }, 49)), offered)
 * assert.ok(Result.isFailure(show({ _tag: "Open", offered, expiresAt: 50 }, 50)))
 * assert.ok(Result.isFailure(show({ _tag: "Burned" }, 49)))
 * ```
 */
export const show = (invite: ClaimInvite, now: number): Result.Result<Offered, InviteGone> => {
  if (invite._tag === "Burned") return refuse({ _tag: "InviteGone", reason: "used" })
  return now < invite.expiresAt ? Result.succeed(invite.offered) : refuse({ _tag: "InviteGone", reason: "expired" })
}

/** The invitation and the roster of its channel change together or not at all. */
export interface Confirmation {
  readonly invite: ClaimInvite
  readonly roster: Roster
}

/**
 * Confirms: the session's verified e-mail is allow-listed, the claim runs, the invitation is burned.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { emptyRoster } from "@catenet/domain/channels/ClaimByAllowList"
 * import { confirm } from "@catenet/domain/channels/ClaimInvite"
 *
 * const offered = { channel: "c", holder: "h", noisePubkey: "n", attestation: "a", label: null }
 * const open = { _tag: "Open", offered, expiresAt: 50 } as const
 * const ada = { subject: "s1", email: "ada@example.org" }
 * const { next } = Result.getOrThrow(confirm(open, emptyRoster, ada, 40))
 * assert.equal(next.invite._tag, "Burned")
 * assert.equal(next.roster.claims.get("h"), "s1")
 * assert.ok(Result.isFailure(confirm(next.invite, next.roster, ada, 41)))
 * ```
 */
export const confirm = (
  invite: ClaimInvite,
  roster: Roster,
  session: { readonly subject: string; readonly email: string | null },
  now: number
): Result.Result<Step<Confirmation, RosterEffect>, InviteGone | ClaimRefusal> =>
  Result.gen(function* () {
    const offered = yield* show(invite, now)
    const { email, subject } = session
    if (email === null) return yield* refuse<ClaimRefusal>({ _tag: "NoVerifiedEmail" })
    const { next: allowed } = yield* rosterTransition(roster, { _tag: "Allow", email })
    const claim = { ...offered, subject, email, attestationValid: true }
    const { effects, next } = yield* rosterTransition(allowed, { _tag: "Claim", claim })
    return { next: { invite: { _tag: "Burned" }, roster: next }, effects }
  })
