/**
 * The proofs that an edge sends with its heartbeat once it has a key. The control plane pins the first key it sees. Heartbeat and
 * admin address have domains of their own, so that neither signature can be used for the other.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as EdgeHeartbeat from "@catenet/crypto/EdgeHeartbeat"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = new Uint8Array(32).fill(5)
 * const key = portable.ed25519.publicKey(seed)
 * const beat = { id: "edge-1", peerAddress: "edge.example:443" }
 * ok(EdgeHeartbeat.verify(portable, key, beat, EdgeHeartbeat.sign(portable, Redacted.make(seed), beat)))
 * const address = { id: "edge-1", adminUrl: "http://10.0.0.7:9100" }
 * ok(EdgeHeartbeat.verifyAdmin(portable, key, address, EdgeHeartbeat.signAdmin(portable, Redacted.make(seed), address)))
 * ```
 */
import * as Bytes from "./Bytes.ts"
import * as Preimage from "./Preimage.ts"
import { defineDetached } from "./SignedRecord.ts"

/** An edge's id and the address at which other edges reach it. */
export const { preimage, sign, verify } = defineDetached({
  domain: "ct-edge-mesh-heartbeat-v1",
  isRaw: true,
  fields: { id: Preimage.text64, peerAddress: Bytes.fromText }
})

/** An edge's id and the address of its admin API. */
export const { sign: signAdmin, verify: verifyAdmin } = defineDetached({
  domain: "ct-edge-admin-address-v1",
  isRaw: true,
  fields: { id: Preimage.text64, adminUrl: Bytes.fromText }
})
