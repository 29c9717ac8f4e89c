/**
 * The signed description of an installable service (section 15.2). A valid signature shows who published it, not that the
 * publisher is trusted: that is decided by the local list, and an empty list trusts nobody.
 */
import { type Redacted, Schema } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"
import { define } from "../SignedRecord.ts"
import type { Suite } from "../Suite.ts"
import * as DemoPrompt from "./DemoPrompt.ts"
import * as ServiceEnvironment from "./ServiceEnvironment.ts"

const nothing = new Uint8Array()
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

const layout = define({
  domain: "cads-service-manifest-v1",
  signer: "publisher",
  fields: {
    publisher: Preimage.fixed32,
    manifestId: Preimage.fixed32,
    name: Preimage.text,
    version: Preimage.text,
    installerKind: (kind: (typeof installers)[number]) => Integer.u8(installers.indexOf(kind)),
    bundle: ({ composeFile, sha256, url }: typeof Bundle.Type) =>
      Bytes.concat(Preimage.text(url), Preimage.fixed32(sha256), Preimage.text(composeFile)),
    envTemplate: Preimage.listOf(({ description, name, required }: typeof Variable.Type) =>
      Bytes.concat(Preimage.text(name), Integer.u8(required ? 1 : 0), Preimage.text(description))
    ),
    verify: ({ script, timeoutSecs }: typeof Verify.Type) =>
      Bytes.concat(Preimage.text(script), Integer.u64le(timeoutSecs)),
    issuedAt: Integer.u64le,
    expiresAt: Integer.u64le,
    // Blocks at the end, each with a number, are absent from older manifests.
    demoPrompt: (prompt: DemoPrompt.DemoPrompt | undefined) =>
      prompt === undefined ? nothing : Bytes.concat(Integer.u8(1), DemoPrompt.bytes(prompt)),
    environment: (environment: ServiceEnvironment.Environment | undefined) =>
      environment === undefined ? nothing : Bytes.concat(Integer.u8(2), ServiceEnvironment.bytes(environment))
  }
})

/** The signed bytes. */
export const preimage: (manifest: Unsigned) => Uint8Array = layout.preimage

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
export const sign: (
  suite: Suite,
  publisherSeed: Redacted.Redacted<Uint8Array>,
  manifest: Omit<Unsigned, "publisher">
) => ServiceManifest = layout.signed

/** Whether the manifest is alive and signed by its publisher. Check `isTrusted` too. */
export const verify: (suite: Suite, manifest: ServiceManifest, now: Integer.Seconds) => boolean = layout.isValid

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
