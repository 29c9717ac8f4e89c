/**
 * A membership of a channel that its operator prepares for another machine, sealed with the key of an invite link, so that the
 * control plane stores it without being able to read it. It includes the holder key, because the operator's grant names that key;
 * whoever joins generates the Noise key.
 */
import { Redacted, Result } from "effect"
import * as Grant from "../Grant.ts"
import * as Hex from "../Hex.ts"
import * as Invitation from "../Invitation.ts"
import * as Json from "../Json.ts"
import type { Direction } from "../Permission.ts"
import * as SealedText from "../SealedText.ts"
import type { Suite } from "../Suite.ts"

export interface PreparedMembership {
  /** What joining prints: a configuration entry for an MCP client, or the command. */
  readonly use: "mcp" | "variables"
  /** What the one who joins calls the peer, by default. */
  readonly name?: string
  /** 278 hex. */
  readonly invitation: string
  /** 64 hex. */
  readonly holderKey: string
  /** Variables of the agent's `channel` command. */
  readonly values: ReadonlyArray<readonly [name: string, value: string]>
}

/** The membership to prepare. */
export interface Wish {
  readonly use: PreparedMembership["use"]
  /** 32 bytes. */
  readonly channel: Uint8Array
  /** Role of the new member. */
  readonly direction: Direction
  /** A fresh seed of 32 bytes. */
  readonly holderKey: Redacted.Redacted<Uint8Array>
  /** Days for which the grant is valid. The invitation expires within a day, as the link does. */
  readonly days: number
  /** Unix seconds. */
  readonly now: bigint
  /** Addresses of the edge, as variables of the new member. */
  readonly place: PreparedMembership["values"]
}

const place = "channel invite v1"
const daySeconds = 86_400

/** Maximum days for which a grant prepared for another machine is valid. */
export const maxMembershipDays = 3650

const keyOf = (suite: Suite, key: Redacted.Redacted<Uint8Array>) => SealedText.keyOf(suite, Redacted.value(key))

/**
 * Grant and invitation for a holder, signed with the operator's seed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const wish = { use: "mcp", channel: new Uint8Array(32), direction: "initiate", holderKey: seed, days: 90, now: 0n, place: [] } as const
 * strictEqual(PreparedMembership.prepare(portable, seed, wish).invitation.length, 278)
 * ```
 */
export const prepare = (
  suite: Suite,
  operatorSeed: Redacted.Redacted<Uint8Array>,
  { channel, days, direction, holderKey, now, place: whereabouts, use }: Wish
): PreparedMembership => {
  const seed = Redacted.value(holderKey)
  const holder = suite.ed25519.publicKey(seed)
  const permission = { channel, direction, rights: "rw", delegable: false } as const
  const until = (count: number) => now + BigInt(count * daySeconds)
  const grant = Grant.sign(suite, operatorSeed, { ...permission, holder, expiresAt: until(days) })
  const invitation = Invitation.sign(suite, operatorSeed, { ...permission, invitee: holder, expiresAt: until(1) })
  return {
    use,
    invitation: Invitation.toHex(invitation),
    holderKey: Hex.encode(seed),
    values: [
      ["CT_CHANNEL_ROLE", direction],
      ["CT_CHANNEL_GRANT", Grant.toHex(grant)],
      ["CT_CHANNEL_HOLDER_KEY", Hex.encode(seed)],
      ...whereabouts
    ]
  }
}

/**
 * What the control plane stores: the membership, encrypted with the key of the link.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = Redacted.make(new Uint8Array(32).fill(7))
 * const membership = { use: "mcp", invitation: "", holderKey: "", values: [] } as const
 * const sealed = PreparedMembership.seal(portable, key, membership)
 * ok(Result.isSuccess(PreparedMembership.open(portable, key, sealed)))
 * ```
 */
export const seal = (suite: Suite, key: Redacted.Redacted<Uint8Array>, membership: PreparedMembership): string =>
  SealedText.seal(
    suite,
    keyOf(suite, key),
    place,
    Json.write({ ...membership, values: membership.values.map(([name, value]) => [name, value]) })
  )

/**
 * The sealed membership as JSON, which the caller decodes; fails if it was sealed with another key or is not a sealed membership.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(Result.isFailure(PreparedMembership.open(portable, Redacted.make(new Uint8Array(32)), "s1.x")))
 * ```
 */
export const open = (
  suite: Suite,
  key: Redacted.Redacted<Uint8Array>,
  text: string
): Result.Result<Json.Json, unknown> =>
  SealedText.open(suite, [keyOf(suite, key)], place, text).pipe(Result.flatMap(Json.parse))
