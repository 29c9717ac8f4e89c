/** A signed composition of services (section 15.3): which manifests take part, and which of them are linked. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Integer from "@catenet/crypto/Integer"
import * as JsonField from "@catenet/crypto/JsonField"
import * as Preimage from "@catenet/crypto/Preimage"
import { alive, holds } from "@catenet/crypto/SignedRecord"
import type { Suite } from "@catenet/crypto/Suite"
import { Redacted, Schema } from "effect"

const hints = ["relay_only", "attempt_direct"] as const

const Part = Schema.Struct({
  publisher: JsonField.Hex32,
  manifestId: JsonField.Hex32,
  signature: JsonField.Hex64,
  registryUrl: JsonField.Text
}).pipe(Schema.encodeKeys({ publisher: "publisher_pubkey", manifestId: "manifest_id", registryUrl: "registry_url" }))

const Link = Schema.Struct({ a: JsonField.U32, b: JsonField.U32, upgradeHint: Schema.Literals(hints) }).pipe(
  Schema.encodeKeys({ upgradeHint: "upgrade_hint" })
)

const Signed = Schema.Struct({
  publisher: JsonField.Hex32,
  compositionId: JsonField.Hex32,
  name: JsonField.Text,
  version: JsonField.Text,
  parts: Schema.Array(Part),
  links: Schema.Array(Link),
  issuedAt: JsonField.U64,
  expiresAt: JsonField.U64,
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    publisher: "publisher_pubkey",
    compositionId: "composition_id",
    parts: "sub_manifests",
    links: "edges",
    issuedAt: "issued_at",
    expiresAt: "expires_at"
  })
)

/** A signed composition. `a` and `b` of a link count its parts from 0. */
export type CompositionManifest = typeof Signed.Type

/** A composition before it is signed. */
export type Unsigned = Omit<CompositionManifest, "signature">

/** The composition as JSON. */
export const json = JsonField.form("composition manifest", Signed)

/**
 * The signed bytes.
 */
export const preimage = (composition: Unsigned): Uint8Array =>
  Preimage.make(
    "cads-composition-manifest-v1",
    Preimage.fixed32(composition.publisher),
    Preimage.fixed32(composition.compositionId),
    Preimage.text(composition.name),
    Preimage.text(composition.version),
    Preimage.list(composition.parts, (part) =>
      Bytes.concat(
        Preimage.fixed32(part.publisher),
        Preimage.fixed32(part.manifestId),
        Preimage.fixed64(part.signature),
        Preimage.text(part.registryUrl)
      )
    ),
    Preimage.list(composition.links, ({ a, b, upgradeHint }) =>
      Bytes.concat(Integer.u32le(a), Integer.u32le(b), Integer.u8(hints.indexOf(upgradeHint)))
    ),
    Integer.u64le(composition.issuedAt),
    Integer.u64le(composition.expiresAt)
  )

/**
 * Signs a composition; the publisher is the seed's own key.
 */
export const sign = (
  suite: Suite,
  publisherSeed: Redacted.Redacted<Uint8Array>,
  composition: Omit<Unsigned, "publisher">
): CompositionManifest => {
  const seed = Redacted.value(publisherSeed)
  const unsigned = { ...composition, publisher: suite.ed25519.publicKey(seed) }
  return { ...unsigned, signature: suite.ed25519.sign(seed, preimage(unsigned)) }
}

/**
 * Whether the composition is alive and signed by its publisher.
 */
export const verify = (suite: Suite, composition: CompositionManifest, now: Integer.Seconds): boolean =>
  alive(now, composition.expiresAt) &&
  holds(suite, composition.publisher, () => preimage(composition), composition.signature)
