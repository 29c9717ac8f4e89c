/**
 * An agent's card (section 7): roles, skills, cells and channels, signed by the holder that it names. Only the signature is
 * checked; the claims are the agent's own. The signature covers the fields and not the JSON: the order of keys and white space do
 * not matter, the order of lists does.
 */
import { type Redacted, Schema } from "effect"
import * as Integer from "./Integer.ts"
import * as JsonField from "./JsonField.ts"
import * as Preimage from "./Preimage.ts"
import { define } from "./SignedRecord.ts"
import type { Suite } from "./Suite.ts"

const Skill = Schema.Struct({
  id: JsonField.Text,
  description: JsonField.Text,
  examples: Schema.Array(JsonField.Text)
})

const Card = Schema.Struct({
  holder: JsonField.Hex32,
  roleTags: Schema.Array(JsonField.Text),
  skills: Schema.Array(Skill),
  cells: Schema.Array(JsonField.Hex32),
  channels: Schema.Array(JsonField.Hex32),
  issuedAt: JsonField.U64,
  expiresAt: JsonField.U64,
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    holder: "holder_pubkey",
    roleTags: "role_tags",
    issuedAt: "issued_at",
    expiresAt: "expires_at"
  })
)

/** Something the agent can do. */
export type Skill = typeof Skill.Type

/** A signed card. */
export type AgentCard = typeof Card.Type

/** A card before it is signed. */
export type Unsigned = Omit<AgentCard, "signature">

/**
 * The card as JSON, as served at `/.well-known/agent-card.json`.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as AgentCard from "@catenet/crypto/AgentCard"
 *
 * ok(Result.isFailure(AgentCard.json.parse("{}")))
 * ```
 */
export const json = JsonField.form("agent card", Card)

const skillBytes = (skill: Skill) =>
  Preimage.join(Preimage.text(skill.id), Preimage.text(skill.description), Preimage.list(skill.examples, Preimage.text))

const layout = define({
  domain: "ct-agent-card-v1",
  signer: "holder",
  fields: {
    holder: Preimage.fixed32,
    roleTags: Preimage.listOf(Preimage.text),
    skills: Preimage.listOf(skillBytes),
    cells: Preimage.listOf(Preimage.fixed32),
    channels: Preimage.listOf(Preimage.fixed32),
    issuedAt: Integer.u64le,
    expiresAt: Integer.u64le
  }
})

/** The signed bytes. */
export const preimage: (card: Unsigned) => Uint8Array = layout.preimage

/**
 * Signs a card; the holder is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as AgentCard from "@catenet/crypto/AgentCard"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(0x51))
 * const claims = { roleTags: ["source"], skills: [], cells: [], channels: [], issuedAt: 1000n, expiresAt: 5000n }
 * const card = AgentCard.sign(portable, seed, claims)
 * ok(AgentCard.verify(portable, card, 4999) && !AgentCard.verify(portable, card, 5000))
 * ```
 */
export const sign: (
  suite: Suite,
  holderSeed: Redacted.Redacted<Uint8Array>,
  claims: Omit<Unsigned, "holder">
) => AgentCard = layout.signed

/** Whether the card is alive and signed by its holder. */
export const verify: (suite: Suite, card: AgentCard, now: Integer.Seconds) => boolean = layout.isValid
