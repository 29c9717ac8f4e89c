/**
 * The references under which a match and a pipeline role are settled (sections 8.3 and 8.6). Whether a bid matches an
 * offer is a rule of the domain; here is only what the agreed facts hash to.
 */
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as Preimage from "../Preimage.ts"
import type { Suite } from "../Suite.ts"
import * as MarketService from "./MarketService.ts"

/** The facts of a match. Neither the service nor the signatures are part of it. */
export interface MatchFacts {
  readonly provider: Uint8Array
  readonly consumer: Uint8Array
  readonly kind: MarketService.Kind
  readonly model: string
  readonly units: bigint
  readonly totalPrice: bigint
  readonly bidIssuedAt: bigint
  readonly offerIssuedAt: bigint
}

/**
 * The reference of a match: SHA-256 over its facts.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as MatchRef from "@catenet/crypto/market/MatchRef"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const parties = { provider: new Uint8Array(32), consumer: new Uint8Array(32).fill(1) }
 * const traded = { kind: "CloudApiQuota", model: "m", units: 5n, totalPrice: 500n }
 * strictEqual(MatchRef.ofMatch(portable, { ...parties, ...traded, bidIssuedAt: 7n, offerIssuedAt: 6n }).length, 32)
 * ```
 */
export const ofMatch = (suite: Suite, facts: MatchFacts): Uint8Array =>
  suite.sha256(
    Preimage.raw(
      "ct-capacity-match-v1",
      Preimage.fixed32(facts.provider),
      Preimage.fixed32(facts.consumer),
      MarketService.kindBytes(facts.kind),
      Preimage.text(facts.model),
      Integer.u64le(facts.units),
      Integer.u64le(facts.totalPrice),
      Integer.u64le(facts.bidIssuedAt),
      Integer.u64le(facts.offerIssuedAt)
    )
  )

/**
 * The escrow reference of a filled pipeline role.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as MatchRef from "@catenet/crypto/market/MatchRef"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const reference = MatchRef.ofRole(portable, "abc", new Uint8Array(32).fill(7), 1n, 1n)
 * strictEqual(Hex.encode(reference), "d0913573872c18b255ecb4e2233346e1cd7e79e9638aedd746aee13b09314713")
 * ```
 */
export const ofRole = (
  suite: Suite,
  pipelineId: string,
  provider: Uint8Array,
  units: bigint,
  price: bigint
): Uint8Array =>
  suite.sha256(
    Preimage.make(
      "ct-pipeline-escrow-match-v1",
      Preimage.text(pipelineId),
      Preimage.fixed32(provider),
      Bytes.concat(Integer.u64le(units), Integer.u64le(price))
    )
  )
