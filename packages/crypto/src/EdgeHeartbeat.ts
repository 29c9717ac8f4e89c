/**
 * The proof an edge sends with its heartbeat once it has a key: a signature over its id and peer address. The control
 * plane pins the first key it sees. The id carries its length, so the two texts cannot be cut elsewhere.
 */
import { Redacted } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { holdsStrictly } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** What a heartbeat says of its edge. */
export interface Heartbeat {
  readonly id: string
  readonly peerAddress: string
}

/**
 * The signed bytes: raw `ct-edge-mesh-heartbeat-v1` ‖ u64le length of id ‖ id ‖ peer address.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 *
 * strictEqual(EdgeHeartbeat.preimage({ id: "a", peerAddress: "b:1" }).length, 25 + 8 + 1 + 3)
 * ```
 */
export const preimage = (heartbeat: Heartbeat): Uint8Array => {
  const id = Bytes.fromText(heartbeat.id)
  return Preimage.raw(
    "ct-edge-mesh-heartbeat-v1",
    Integer.u64le(BigInt(id.length)),
    id,
    Bytes.fromText(heartbeat.peerAddress)
  )
}

/** Where an edge takes orders, as it says with a heartbeat. */
export interface AdminAddress {
  readonly id: string
  readonly adminUrl: string
}

/**
 * The signed bytes of the address: raw `ct-edge-admin-address-v1` ‖ u64le length of id ‖ id ‖ URL. They are not those of
 * the heartbeat, so that neither signature can be shown for the other.
 */
const adminPreimage = (address: AdminAddress): Uint8Array => {
  const id = Bytes.fromText(address.id)
  return Preimage.raw(
    "ct-edge-admin-address-v1",
    Integer.u64le(BigInt(id.length)),
    id,
    Bytes.fromText(address.adminUrl)
  )
}

/**
 * The 64-byte signature of an edge's admin address.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(5)
 * const address = { id: "edge-1", adminUrl: "http://10.0.0.7:9100" }
 * const signature = EdgeHeartbeat.signAdmin(portable, Redacted.make(seed), address)
 * ok(EdgeHeartbeat.verifyAdmin(portable, portable.ed25519.publicKey(seed), address, signature))
 * ```
 */
export const signAdmin = (suite: Suite, edgeSeed: Redacted.Redacted<Uint8Array>, address: AdminAddress): Uint8Array =>
  suite.ed25519.sign(Redacted.value(edgeSeed), adminPreimage(address))

/**
 * Whether the key signed this address.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const address = { id: "edge-1", adminUrl: "http://10.0.0.7:9100" }
 * ok(!EdgeHeartbeat.verifyAdmin(portable, new Uint8Array(32), address, new Uint8Array(64).fill(1)))
 * ```
 */
export const verifyAdmin = (suite: Suite, edgeKey: Uint8Array, address: AdminAddress, signature: Uint8Array): boolean =>
  holdsStrictly(suite, edgeKey, () => adminPreimage(address), signature)

/**
 * The 64-byte signature of a heartbeat.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(5)
 * const heartbeat = { id: "edge-1", peerAddress: "203.0.113.7:4433" }
 * const signature = EdgeHeartbeat.sign(portable, Redacted.make(seed), heartbeat)
 * ok(EdgeHeartbeat.verify(portable, portable.ed25519.publicKey(seed), heartbeat, signature))
 * ```
 */
export const sign = (suite: Suite, edgeSeed: Redacted.Redacted<Uint8Array>, heartbeat: Heartbeat): Uint8Array =>
  suite.ed25519.sign(Redacted.value(edgeSeed), preimage(heartbeat))

/**
 * Whether the key signed this heartbeat.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const heartbeat = { id: "edge-1", peerAddress: "203.0.113.7:4433" }
 * ok(!EdgeHeartbeat.verify(portable, new Uint8Array(32), heartbeat, new Uint8Array(64).fill(1)))
 * ```
 */
export const verify = (suite: Suite, edgeKey: Uint8Array, heartbeat: Heartbeat, signature: Uint8Array): boolean =>
  holdsStrictly(suite, edgeKey, () => preimage(heartbeat), signature)
