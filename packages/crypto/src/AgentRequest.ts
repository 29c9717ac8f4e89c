/**
 * The proof with which an agent calls the control plane: its enrolled key signs the request, so that the routing token, which
 * grantees and former agents know too, is not enough. It covers the method, the path, the body and the time, so it is valid for
 * one call and only briefly.
 */
import { Redacted, Result } from "effect"
import * as Hex from "./Hex.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { defineDetached } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

/** The header that carries a proof, in lower case. */
export const header = "catenet-agent-proof"

/** A request of an agent. */
export interface AgentRequest {
  readonly method: string
  /** Without origin and query. */
  readonly path: string
  /** Empty if there is none. */
  readonly body: Uint8Array
}

/** Content of the header. */
export interface Proof {
  /** The agent: 32 bytes. */
  readonly key: Uint8Array
  /** Unix seconds. */
  readonly issuedAt: bigint
  /** 64 bytes. */
  readonly signature: Uint8Array
}

const layout = defineDetached({
  domain: "ct-agent-request-v1",
  fields: {
    key: Preimage.fixed32,
    method: Preimage.text,
    path: Preimage.text,
    bodyDigest: Preimage.fixed32,
    issuedAt: Integer.u64le
  }
})

const recordOf = (
  suite: Suite,
  { body, method, path }: AgentRequest,
  { issuedAt, key }: Pick<Proof, "issuedAt" | "key">
) => ({ key, method, path, bodyDigest: suite.sha256(body), issuedAt })

/**
 * The value of the header, made with the agent's seed.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AgentRequest from "@catenet/crypto/AgentRequest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const request = { method: "GET", path: "/agent/a", body: new Uint8Array() }
 * const value = AgentRequest.sign(portable, Redacted.make(new Uint8Array(32).fill(7)), request, 12n)
 * strictEqual(AgentRequest.read(value)?.issuedAt, 12n)
 * ```
 */
export const sign = (
  suite: Suite,
  agentSeed: Redacted.Redacted<Uint8Array>,
  request: AgentRequest,
  issuedAt: bigint
): string => {
  const key = suite.ed25519.publicKey(Redacted.value(agentSeed))
  const signature = layout.sign(suite, agentSeed, recordOf(suite, request, { key, issuedAt }))
  return `${Hex.encode(key)}.${issuedAt}.${Hex.encode(signature)}`
}

const form = /^(?<key>[0-9a-f]{64})\.(?<issuedAt>[0-9]{1,12})\.(?<signature>[0-9a-f]{128})$/u

/**
 * The proof that a header holds; undefined for any other text.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as AgentRequest from "@catenet/crypto/AgentRequest"
 *
 * strictEqual(AgentRequest.read("none"), undefined)
 * ```
 */
export const read = (value: string): Proof | undefined => {
  const found = form.exec(value)?.groups
  if (found === undefined) return undefined
  const { issuedAt = "", key = "", signature = "" } = found
  const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex))
  return { key: bytes(key), issuedAt: BigInt(issuedAt), signature: bytes(signature) }
}

/**
 * Whether the key of the proof signed this request. The caller first checks that the key is enrolled and the time is recent: both
 * are cheaper.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AgentRequest from "@catenet/crypto/AgentRequest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const request = { method: "GET", path: "/agent/a", body: new Uint8Array() }
 * const proof = AgentRequest.read(AgentRequest.sign(portable, Redacted.make(new Uint8Array(32).fill(7)), request, 12n))
 * ok(proof !== undefined && AgentRequest.verify(portable, request, proof))
 * ok(!AgentRequest.verify(portable, { ...request, path: "/agent/b" }, proof))
 * ```
 */
export const verify = (suite: Suite, request: AgentRequest, proof: Proof): boolean =>
  layout.verify(suite, proof.key, recordOf(suite, request, proof), proof.signature)
