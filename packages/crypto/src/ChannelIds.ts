/** The two derivations of a channel id (section 1). An id is 32 bytes; a channel may also have an id that was chosen by hand. */
import { Option, Result } from "effect"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import * as Preimage from "./Preimage.ts"
import type { Suite } from "./Suite.ts"

/**
 * The channel of a link between two holders under one operator, in either order. Two equal holders have an id too; rooms and
 * topologies reject such a pair earlier.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as ChannelIds from "@catenet/crypto/ChannelIds"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const key = (byte) => new Uint8Array(32).fill(byte)
 * deepStrictEqual(ChannelIds.link(portable, key(1), key(2), key(3)), ChannelIds.link(portable, key(1), key(3), key(2)))
 * ```
 */
export const link = (suite: Suite, operator: Uint8Array, a: Uint8Array, b: Uint8Array): Uint8Array => {
  const [low, high] = Bytes.compare(a, b) <= 0 ? [a, b] : [b, a]
  return suite.sha256(
    Preimage.raw("ct-link-channel-v1", Preimage.fixed32(operator), Preimage.fixed32(low), Preimage.fixed32(high))
  )
}

/**
 * The channel of a role in a pipeline: the same for every holder of the role. Both texts are used as given.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as ChannelIds from "@catenet/crypto/ChannelIds"
 * import * as Hex from "@catenet/crypto/Hex"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const channel = ChannelIds.pipelineRole(portable, new Uint8Array(32).fill(0x11), "flappy-demo", "physics")
 * strictEqual(Hex.encode(channel), "dfb5a36afc53436191de07cb595d012eadcf2b1ff89c6d41725e5a47d7442ba1")
 * ```
 */
export const pipelineRole = (suite: Suite, operator: Uint8Array, pipelineId: string, role: string): Uint8Array =>
  suite.sha256(
    Preimage.make(
      "ct-pipeline-role-channel-v1",
      Preimage.fixed32(operator),
      Preimage.text(pipelineId),
      Preimage.text(role)
    )
  )

/**
 * The channel of a role in a published pipeline: none if the pipeline has no such role or its operator key is not 64 hex
 * characters.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Option } from "effect"
 * import * as ChannelIds from "@catenet/crypto/ChannelIds"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const pipeline = { id: "flappy-demo", roles: ["physics"], operatorHex: "11".repeat(32) }
 * ok(Option.isSome(ChannelIds.publishedRole(portable, pipeline, "physics")))
 * ok(Option.isNone(ChannelIds.publishedRole(portable, pipeline, "art")))
 * ```
 */
export const publishedRole = (
  suite: Suite,
  pipeline: { readonly id: string; readonly roles: ReadonlyArray<string>; readonly operatorHex: string | null },
  role: string
): Option.Option<Uint8Array> =>
  pipeline.roles.includes(role)
    ? Option.map(Result.getSuccess(Hex.decode(pipeline.operatorHex ?? "", 32)), (operator) =>
        pipelineRole(suite, operator, pipeline.id, role)
      )
    : Option.none()
