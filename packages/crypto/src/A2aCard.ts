/**
 * An A2A 1.0 agent card and the contract's card in one JSON object. Readers of either card ignore the keys of the other; the
 * skills belong to both. The A2A part has its own JWS (A2A 8.4) over its canonical form, made with the same holder key.
 */
import { Redacted, Result } from "effect"
import * as AgentCard from "./AgentCard.ts"
import * as Base64 from "./Base64.ts"
import * as Bytes from "./Bytes.ts"
import * as Hex from "./Hex.ts"
import * as Json from "./Json.ts"
import type { Suite } from "./Suite.ts"

/** Fields that A2A requires and the contract's card does not have. */
export interface Description {
  readonly name: string
  readonly description: string
  readonly version: string
  /** URL of the agent's JSON-RPC endpoint. */
  readonly url: string
}

type Fields = { readonly [key: string]: Json.Json }

const isFields = (value: Json.Json | undefined): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The keys of the A2A part, without `signatures`, and the keys of its skills. */
const keys = [
  "name",
  "description",
  "supportedInterfaces",
  "version",
  "capabilities",
  "defaultInputModes",
  "defaultOutputModes",
  "skills"
] as const
const skillKeys = ["id", "name", "description", "tags", "examples"] as const

const picked = (fields: Fields, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))

/** Empty values are not signed, because A2A treats them as absent. */
const withoutEmpty = (value: Json.Json): Json.Json | undefined => {
  if (value === null || value === "") return undefined
  if (typeof value !== "object") return value
  if (Array.isArray(value)) {
    const items = value.flatMap((item: Json.Json) => withoutEmpty(item) ?? [])
    return items.length === 0 ? undefined : items
  }
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const left = withoutEmpty(item)
    return left === undefined ? [] : [[key, left] as const]
  })
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The signed bytes: the A2A part in canonical JSON (RFC 8785), in base64url; undefined if it has no canonical form. */
const payloadOf = (card: Fields): string | undefined => {
  const { skills } = card
  const part = withoutEmpty({
    ...picked(card, keys),
    ...(Array.isArray(skills)
      ? { skills: skills.map((skill: Json.Json) => (isFields(skill) ? picked(skill, skillKeys) : skill)) }
      : {})
  })
  const text = Json.canonical(part ?? {})
  return Result.isFailure(text) ? undefined : Base64.encodeUrl(Bytes.fromText(text.success))
}

const headerOf = (holder: Uint8Array) =>
  Base64.encodeUrl(Bytes.fromText(Json.write({ alg: "EdDSA", kid: Hex.encode(holder), typ: "JOSE" })))

const signingInput = (header: string, payload: string) => Bytes.fromText(`${header}.${payload}`)

/**
 * Both cards as one: the contract's keys first, in the contract's order.
 *
 * ```ts
 * import { deepStrictEqual, ok } from "node:assert"
 * import { Redacted, Result } from "effect"
 * import * as A2aCard from "@catenet/crypto/A2aCard"
 * import * as AgentCard from "@catenet/crypto/AgentCard"
 * import * as Json from "@catenet/crypto/Json"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(7))
 * const claims = { roleTags: ["art"], skills: [], cells: [], channels: [], issuedAt: 1n, expiresAt: 9n }
 * const card = AgentCard.sign(portable, seed, claims)
 * const about = { name: "painter", description: "Paints", version: "1.0.0", url: "https://a.example/" }
 * const both = A2aCard.write(portable, seed, card, about)
 * deepStrictEqual(Result.getOrThrow(AgentCard.json.parse(both)), card)
 * ok(A2aCard.holds(portable, Result.getOrThrow(Json.parse(both))))
 * ```
 */
export const write = (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  card: AgentCard.AgentCard,
  { description, name, url, version }: Description
): string => {
  const fields = AgentCard.json.toJson(card)
  const unsigned: Fields = {
    ...(isFields(fields) ? fields : {}),
    skills: card.skills.map((skill) => ({
      id: skill.id,
      description: skill.description,
      examples: skill.examples,
      name: skill.id,
      tags: card.roleTags
    })),
    name,
    description,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    version,
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"]
  }
  const header = headerOf(card.holder)
  const signature = suite.ed25519.sign(Redacted.value(holderSeed), signingInput(header, payloadOf(unsigned) ?? ""))
  return Json.write({ ...unsigned, signatures: [{ protected: header, signature: Base64.encodeUrl(signature) }] })
}

/**
 * Whether the A2A part has a valid signature by the card's holder. True for a card without an A2A part.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as A2aCard from "@catenet/crypto/A2aCard"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(A2aCard.holds(portable, { holder_pubkey: "00" }))
 * ok(!A2aCard.holds(portable, { holder_pubkey: "00", signatures: [] }))
 * ```
 */
export const holds = (suite: Suite, card: Json.Json): boolean => {
  if (!isFields(card)) return false
  const { holder_pubkey, signatures } = card
  if (!keys.some((key) => key !== "skills" && Object.hasOwn(card, key)) && signatures === undefined) return true
  const holder = typeof holder_pubkey === "string" ? Hex.decode(holder_pubkey, 32) : undefined
  const payload = payloadOf(card)
  if (holder === undefined || Result.isFailure(holder) || payload === undefined || !Array.isArray(signatures))
    return false
  const header = headerOf(holder.success)
  return signatures.some((each: Json.Json) => {
    if (!isFields(each) || each["protected"] !== header || typeof each["signature"] !== "string") return false
    const signature = Base64.decodeUrl(each["signature"])
    if (Result.isFailure(signature) || signature.success.length !== 64) return false
    return suite.ed25519.verify(holder.success, signingInput(header, payload), signature.success)
  })
}
