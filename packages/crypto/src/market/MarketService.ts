/** The services an offer may list and a bid may name (section 8.1), with their tag, JSON form and slug. */
import { Schema } from "effect"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"

/** What kind of capacity is traded (section 8.1). */
const kinds = ["CloudApiQuota", "LocalHardware"] as const

/** Quota of a cloud API, or local hardware. */
export const Kind = Schema.Literals(kinds)

/** A kind of capacity. */
export type Kind = typeof Kind.Type

/**
 * The kind's tag byte.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as MarketService from "@catenet/crypto/market/MarketService"
 *
 * deepStrictEqual(MarketService.kindBytes("LocalHardware"), Uint8Array.of(1))
 * ```
 */
export const kindBytes = (kind: Kind): Uint8Array => Integer.u8(kinds.indexOf(kind))

const named = ["CodeGeneration", "SecurityReview", "SafetyCheck", "TextGeneration"] as const
const customTag = 4

/** One of the four named services, or `{ Custom: name }`. */
export const Service = Schema.Union([Schema.Literals(named), Schema.Struct({ Custom: JsonField.Text })])

/** A service. */
export type Service = typeof Service.Type

/**
 * The service's bytes in a preimage: its tag, and for a custom one its name.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as MarketService from "@catenet/crypto/market/MarketService"
 *
 * strictEqual(Hex.encode(MarketService.bytes("SafetyCheck")), "02")
 * strictEqual(Hex.encode(MarketService.bytes({ Custom: "a" })), "040100000061")
 * ```
 */
export const bytes = (service: Service): Uint8Array =>
  typeof service === "string"
    ? Integer.u8(named.indexOf(service))
    : Preimage.join(Integer.u8(customTag), Preimage.text(service.Custom))

/**
 * The service's name in a tool: `service/<slug>`. Two custom names may share a slug.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as MarketService from "@catenet/crypto/market/MarketService"
 *
 * strictEqual(MarketService.slug("CodeGeneration"), "code_generation")
 * strictEqual(MarketService.slug({ Custom: "Android Test-1" }), "android_test_1")
 * ```
 */
export const slug = (service: Service): string =>
  typeof service === "string"
    ? service.replaceAll(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase()
    : service.Custom.toLowerCase().replaceAll(/[^a-z0-9]/gu, "_")
