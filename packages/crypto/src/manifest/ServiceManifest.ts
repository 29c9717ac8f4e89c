/**
 * The signed description of an installable service (section 15.2). A valid signature says who published it, not that the
 * publisher is trusted: the local list decides, and an empty list trusts no publisher.
 */
import { Redacted, Schema } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { alive, holds } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as DemoPrompt from "./DemoPrompt.ts"
import * as ServiceEnvironment from "./ServiceEnvironment.ts"

const installers = ["compose", "binary", "k8s"] as const

const Bundle = Schema.Struct({
  url: JsonField.Text,
  sha256: JsonField.Hex32,
  composeFile: JsonField.Text
}).pipe(Schema.encodeKeys({ composeFile: "compose_file" }))

const Variable = Schema.Struct({ name: JsonField.Text, required: Schema.Boolean, description: JsonField.Text })

const Verify = Schema.Struct({ script: JsonField.Text, timeoutSecs: JsonField.U64 }).pipe(
  Schema.encodeKeys({ timeoutSecs: "timeout_secs" })
)

const Signed = Schema.Struct({
  publisher: JsonField.Hex32,
  manifestId: JsonField.Hex32,
  name: JsonField.Text,
  version: JsonField.Text,
  installerKind: Schema.Literals(installers),
  bundle: Bundle,
  envTemplate: Schema.Array(Variable),
  verify: Verify,
  issuedAt: JsonField.U64,
  expiresAt: JsonField.U64,
  demoPrompt: Schema.optionalKey(DemoPrompt.DemoPrompt),
  environment: Schema.optionalKey(ServiceEnvironment.Environment),
  signature: JsonField.Hex64
}).pipe(
  Schema.encodeKeys({
    publisher: "publisher_pubkey",
    manifestId: "manifest_id",
    installerKind: "installer_kind",
    envTemplate: "env_template",
    issuedAt: "issued_at",
    expiresAt: "expires_at",
    demoPrompt: "demo_prompt"
  })
)

/** A signed manifest. */
export type ServiceManifest = typeof Signed.Type

/** A manifest before it is signed. */
export type Unsigned = Omit<ServiceManifest, "signature">

/** The manifest as JSON. */
export const json = JsonField.form("service manifest", Signed)

/**
 * The signed bytes. An absent block adds nothing; a present one its tag (1 demo prompt, 2 environment) and its bytes.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
 *
 * const id = new Uint8Array(32)
 * const bundle = { url: "", sha256: id, composeFile: "" }
 * const named = { publisher: id, manifestId: id, name: "", version: "", installerKind: "compose", bundle }
 * const rest = { envTemplate: [], verify: { script: "", timeoutSecs: 0n }, issuedAt: 0n, expiresAt: 1n }
 * strictEqual(ServiceManifest.preimage({ ...named, ...rest }).length, 28 + 64 + 8 + 1 + 40 + 4 + 12 + 16)
 * ```
 */
export const preimage = (manifest: Unsigned): Uint8Array => {
  const { bundle, verify, demoPrompt, environment } = manifest
  const blocks = [
    ...(demoPrompt === undefined ? [] : [Integer.u8(1), DemoPrompt.bytes(demoPrompt)]),
    ...(environment === undefined ? [] : [Integer.u8(2), ServiceEnvironment.bytes(environment)])
  ]
  return Preimage.make(
    "cads-service-manifest-v1",
    Preimage.fixed32(manifest.publisher),
    Preimage.fixed32(manifest.manifestId),
    Preimage.text(manifest.name),
    Preimage.text(manifest.version),
    Integer.u8(installers.indexOf(manifest.installerKind)),
    Preimage.text(bundle.url),
    Preimage.fixed32(bundle.sha256),
    Preimage.text(bundle.composeFile),
    Preimage.list(manifest.envTemplate, ({ name, required, description }) =>
      Bytes.concat(Preimage.text(name), Integer.u8(required ? 1 : 0), Preimage.text(description))
    ),
    Preimage.text(verify.script),
    Integer.u64le(verify.timeoutSecs),
    Integer.u64le(manifest.issuedAt),
    Integer.u64le(manifest.expiresAt),
    ...blocks
  )
}

/**
 * Signs a manifest; the publisher is the seed's own key.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const id = new Uint8Array(32)
 * const bundle = { url: "https://example.invalid/b.tar.gz", sha256: id, composeFile: "docker-compose.yml" }
 * const named = { manifestId: id, name: "demo", version: "0.1.0", installerKind: "compose", bundle }
 * const rest = { envTemplate: [], verify: { script: "verify.sh", timeoutSecs: 60n }, issuedAt: 0n, expiresAt: 10n }
 * const signed = ServiceManifest.sign(portable, Redacted.make(new Uint8Array(32).fill(0x31)), { ...named, ...rest })
 * ok(ServiceManifest.verify(portable, signed, 9) && !ServiceManifest.verify(portable, { ...signed, name: "other" }, 9))
 * ```
 */
export const sign = (
  suite: Suite,
  publisherSeed: Redacted.Redacted<Uint8Array>,
  manifest: Omit<Unsigned, "publisher">
): ServiceManifest => {
  const seed = Redacted.value(publisherSeed)
  const unsigned = { ...manifest, publisher: suite.ed25519.publicKey(seed) }
  return { ...unsigned, signature: suite.ed25519.sign(seed, preimage(unsigned)) }
}

/**
 * Whether the manifest is alive and signed by its publisher.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const id = new Uint8Array(32)
 * const bundle = { url: "", sha256: id, composeFile: "" }
 * const named = { publisher: id, manifestId: id, name: "", version: "", installerKind: "k8s", bundle }
 * const rest = { envTemplate: [], verify: { script: "", timeoutSecs: 0n }, issuedAt: 0n, expiresAt: 1n }
 * ok(!ServiceManifest.verify(portable, { ...named, ...rest, signature: new Uint8Array(64).fill(1) }, 0))
 * ```
 */
export const verify = (suite: Suite, manifest: ServiceManifest, now: Integer.Seconds): boolean =>
  alive(now, manifest.expiresAt) && holds(suite, manifest.publisher, () => preimage(manifest), manifest.signature)

/**
 * Whether a publisher is on the local list of trusted keys.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
 *
 * ok(!ServiceManifest.isTrusted([], new Uint8Array(32)))
 * ```
 */
export const isTrusted = (trusted: ReadonlyArray<Uint8Array>, publisher: Uint8Array): boolean =>
  trusted.some((key) => Bytes.equal(key, publisher))
