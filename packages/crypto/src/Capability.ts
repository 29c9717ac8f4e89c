/**
 * The capability file (section 9.1): whoever holds it can connect to an origin through its edge. It is neither signed nor
 * encrypted; its mode is 0600. Its token field contains the visitor token; older agents, and agents of edges without visitor
 * tokens, write the routing token.
 */
import { Redacted, Result } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Integer from "./Integer.ts"
import * as Preimage from "./Preimage.ts"
import { Malformed } from "./SignedRecord.ts"

/** How to reach an origin, and the key it will prove. */
export interface Capability {
  /** 32 bytes: a visitor token (`VisitorToken`) or a routing token. */
  readonly routingToken: Redacted.Redacted<Uint8Array>
  /** 32 bytes, X25519. */
  readonly originKey: Uint8Array
  /** `host:port`; not validated here, may be empty. */
  readonly edgeAddress: string
}

/**
 * The file's bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Redacted } from "effect"
 * import * as Capability from "@catenet/crypto/Capability"
 *
 * const routingToken = Redacted.make(new Uint8Array(32))
 * strictEqual(Capability.encode({ routingToken, originKey: new Uint8Array(32), edgeAddress: "203.0.113.7:443" }).length, 83)
 * ```
 */
export const encode = (capability: Capability): Uint8Array =>
  Bytes.concat(
    Preimage.fixed32(Redacted.value(capability.routingToken)),
    Preimage.fixed32(capability.originKey),
    Preimage.text(capability.edgeAddress)
  )

/**
 * Decodes a file; refuses one that is longer or shorter than it declares.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as Capability from "@catenet/crypto/Capability"
 *
 * ok(Result.isSuccess(Capability.decode(new Uint8Array(68))))
 * ok(Result.isFailure(Capability.decode(new Uint8Array(69))))
 * ```
 */
export const decode = (bytes: Uint8Array): Result.Result<Capability, Malformed> => {
  const malformed = (why: string) => Result.fail(new Malformed({ record: "capability", why }))
  if (bytes.length < 68) return malformed("fewer than 68 bytes")
  if (!Bytes.equal(bytes.subarray(64, 68), Integer.u32le(bytes.length - 68))) return malformed("not the size it says")
  return Result.match(Bytes.toText(bytes.subarray(68)), {
    onSuccess: (edgeAddress) =>
      Result.succeed({
        routingToken: Redacted.make(Bytes.copy(bytes, 0, 32)),
        originKey: Bytes.copy(bytes, 32, 64),
        edgeAddress
      }),
    onFailure: () => malformed("the edge address is not UTF-8")
  })
}
