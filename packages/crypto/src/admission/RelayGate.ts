/**
 * The gate to the relay node (section 6.11): the same grant and possession proof as a join, without length or endpoint;
 * the edge answers with the node's identity and then copies the stream to it.
 */
import { Result } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Grant from "../Grant.ts"
import * as Integer from "../Integer.ts"
import { wireLength } from "../Permission.ts"
import type { Malformed } from "../SignedRecord.ts"
import { Broken, Incomplete, Refused } from "./Outcome.ts"
import * as Refusal from "./Refusal.ts"

const ok = Uint8Array.of(0x4f, 0x4b)

/**
 * The edge's last frame: `OK` ‖ u16be length ‖ identity.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as RelayGate from "@catenet/crypto/admission/RelayGate"
 *
 * strictEqual(RelayGate.encodeReply("node").length, 8)
 * ```
 */
export const encodeReply = (relayNode: string): Uint8Array => {
  const identity = Bytes.fromText(relayNode)
  return Bytes.concat(ok, Integer.u16be(identity.length), identity)
}

/**
 * Reads the grant that a member sends first, and returns the number of bytes consumed. `Incomplete` never asks for more than 139
 * bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as RelayGate from "@catenet/crypto/admission/RelayGate"
 *
 * strictEqual(Result.getOrThrow(Result.flip(RelayGate.readGrant(new Uint8Array(138))))._tag, "Incomplete")
 * strictEqual(Result.getOrThrow(Result.flip(RelayGate.readGrant(new Uint8Array(139))))._tag, "Malformed")
 * ```
 */
export const readGrant = (
  received: Uint8Array
): Result.Result<{ readonly grant: Grant.Grant; readonly length: number }, Incomplete | Malformed> =>
  received.length < wireLength
    ? Result.fail(new Incomplete())
    : Result.map(Grant.decode(received.subarray(0, wireLength)), (grant) => ({ grant, length: wireLength }))

/**
 * Reads that frame, with the number of bytes it took. The stream is over when `ended`.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as RelayGate from "@catenet/crypto/admission/RelayGate"
 *
 * strictEqual(Result.getOrThrow(RelayGate.readReply(RelayGate.encodeReply("node"), false)).relayNode, "node")
 * ```
 */
export const readReply = (
  received: Uint8Array,
  ended: boolean
): Result.Result<{ readonly relayNode: string; readonly length: number }, Incomplete | Refused | Broken> => {
  const broken = (why: string) => Result.fail(new Broken({ why, retry: false }))
  if (Refusal.isRefusal(received)) {
    if (!ended && received.length < 3 + (received[2] ?? 0)) return Result.fail(new Incomplete())
    return Result.fail(new Refused({ token: Refusal.tokenAfterNo(received.subarray(2)) }))
  }
  const length = 4 + (received[2] ?? 0) * 256 + (received[3] ?? 0)
  if (received.length < 4 || received.length < length) {
    return ended ? broken("the edge ended within its reply") : Result.fail(new Incomplete())
  }
  if (received[0] !== ok[0] || received[1] !== ok[1]) return broken("neither OK nor NO")
  return Result.match(Bytes.toText(received.subarray(4, length)), {
    onSuccess: (relayNode) => Result.succeed({ relayNode, length }),
    onFailure: () => broken("the node's identity is not UTF-8")
  })
}
