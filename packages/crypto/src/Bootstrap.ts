/** The secret that a bootstrap token is redeemed for (section 10): one line of text with the join token and the routing token. */
import { Redacted, Result } from "effect"
import * as Hex from "./Hex.ts"
import type { Seconds } from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { holdsStrictly, Malformed } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** The two tokens an agent starts with. */
export interface BootstrapSecret {
  readonly joinToken: Redacted.Redacted<Uint8Array>
  readonly routingToken: Redacted.Redacted<Uint8Array>
}

/**
 * The secret as text.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Bootstrap from "@catenet/crypto/Bootstrap"
 *
 * const token = Redacted.make(new Uint8Array(32))
 * ok(Redacted.value(Bootstrap.write({ joinToken: token, routingToken: token })).startsWith("CT_JOIN_TOKEN=00"))
 * ```
 */
export const write = (secret: BootstrapSecret): Redacted.Redacted<string> =>
  Redacted.make(
    `CT_JOIN_TOKEN=${Hex.encode(Redacted.value(secret.joinToken))};` +
      `CT_AGENT_TOKEN=${Hex.encode(Redacted.value(secret.routingToken))}`
  )

/**
 * The two tokens of a secret.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as Bootstrap from "@catenet/crypto/Bootstrap"
 *
 * const text = `CT_JOIN_TOKEN=${"0".repeat(64)};CT_AGENT_TOKEN=${"f".repeat(64)}`
 * ok(Result.isSuccess(Bootstrap.parse(Redacted.make(text))))
 * ok(Result.isFailure(Bootstrap.parse(Redacted.make("CT_JOIN_TOKEN="))))
 * ```
 */
export const parse = (secret: Redacted.Redacted<string>): Result.Result<BootstrapSecret, Malformed> => {
  const match = /^CT_JOIN_TOKEN=([^;]*);CT_AGENT_TOKEN=([^;]*)$/.exec(Redacted.value(secret))
  const tokens = Result.all([Hex.decode(match?.[1] ?? "", 32), Hex.decode(match?.[2] ?? "", 32)])
  return Result.mapBoth(tokens, {
    onSuccess: ([join, routing]) => ({ joinToken: Redacted.make(join), routingToken: Redacted.make(routing) }),
    onFailure: () => new Malformed({ record: "bootstrap secret", why: "not two named 64-hex tokens" })
  })
}

/**
 * Whether a bootstrap token may still be redeemed. Unlike a signed record, it is still valid at the moment of expiry.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as Bootstrap from "@catenet/crypto/Bootstrap"
 *
 * ok(Bootstrap.alive(600, 600n) && !Bootstrap.alive(601, 600n))
 * ```
 */
export const alive = (now: Seconds, expiresAt: bigint): boolean => now <= expiresAt

const preimage = (token: Redacted.Redacted<Uint8Array>) =>
  Preimage.make("catenet-bootstrap-redeem-v1", Preimage.fixed32(Redacted.value(token)))

/**
 * The 64-byte proof with which an agent redeems a bootstrap token of 32 raw bytes for its key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Bootstrap from "@catenet/crypto/Bootstrap"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x21))
 * const token = Redacted.make(new Uint8Array(32).fill(0x3c))
 * const proof = Bootstrap.prove(portable, seed, token)
 * ok(Bootstrap.verify(portable, portable.ed25519.publicKey(Redacted.value(seed)), token, proof))
 * ```
 */
export const prove = (
  suite: Suite,
  agentSeed: Redacted.Redacted<Uint8Array>,
  token: Redacted.Redacted<Uint8Array>
): Uint8Array => suite.ed25519.sign(Redacted.value(agentSeed), preimage(token))

/**
 * Whether the agent key signed this bootstrap token. Checked before the token is looked up.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Bootstrap from "@catenet/crypto/Bootstrap"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const token = Redacted.make(new Uint8Array(32))
 * ok(!Bootstrap.verify(portable, new Uint8Array(32), token, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (
  suite: Suite,
  agentKey: Uint8Array,
  token: Redacted.Redacted<Uint8Array>,
  proof: Uint8Array
): boolean => Redacted.value(token).length === 32 && holdsStrictly(suite, agentKey, () => preimage(token), proof)
