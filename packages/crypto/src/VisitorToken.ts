/**
 * The token in a capability, in place of the routing token: it allows visiting the tunnel but not serving it. It is a hash of the
 * routing token, so the edge can find the tunnel by it, and nobody can derive the routing token. It begins with a mark, so that
 * even an edge that has never seen the tunnel does not accept it from an agent.
 */
import { Redacted } from "effect"
import * as Bytes from "./Bytes.ts"
import type { Suite } from "./Suite.ts"

const mark = Bytes.fromText("ct-visit")
const label = Bytes.fromText("catenet visitor token v1\0")

/**
 * The visitor token of a routing token, 32 bytes: the mark, then the first 24 bytes of
 * SHA-256(`"catenet visitor token v1\0"` ‖ routing token).
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import { portable } from "@catenet/crypto/portable"
 * import * as VisitorToken from "@catenet/crypto/VisitorToken"
 *
 * const token = VisitorToken.of(portable, Redacted.make(new Uint8Array(32)))
 * strictEqual(Redacted.value(token).length, 32)
 * ```
 */
export const of = (suite: Suite, routingToken: Redacted.Redacted<Uint8Array>): Redacted.Redacted<Uint8Array> => {
  const hash = suite.sha256(Bytes.concat(label, Redacted.value(routingToken)))
  return Redacted.make(Bytes.concat(mark, hash.subarray(0, 32 - mark.length)))
}

/**
 * Whether these bytes are a visitor token. One routing token in 2^64 has the same mark.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import { portable } from "@catenet/crypto/portable"
 * import * as VisitorToken from "@catenet/crypto/VisitorToken"
 *
 * const routingToken = new Uint8Array(32)
 * ok(!VisitorToken.is(routingToken))
 * ok(VisitorToken.is(Redacted.value(VisitorToken.of(portable, Redacted.make(routingToken)))))
 * ```
 */
export const is = (token: Uint8Array): boolean => Bytes.equal(token.subarray(0, mark.length), mark)
