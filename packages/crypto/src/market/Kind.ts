/** What kind of capacity is traded (section 8.1). */
import { Schema } from "effect"
import * as Integer from "../Integer.ts"

const kinds = ["CloudApiQuota", "LocalHardware"] as const

/** Quota of a cloud interface, or hardware of one's own. */
export const Kind = Schema.Literals(kinds)

/** A kind of capacity. */
export type Kind = typeof Kind.Type

/**
 * The kind's tag byte.
 *
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import * as Kind from "@catenet/crypto/market/Kind"
 *
 * deepStrictEqual(Kind.bytes("LocalHardware"), Uint8Array.of(1))
 * ```
 */
export const bytes = (kind: Kind): Uint8Array => Integer.u8(kinds.indexOf(kind))
