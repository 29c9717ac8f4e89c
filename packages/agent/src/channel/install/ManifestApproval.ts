/**
 * Checks a manifest before installation: signed by a trusted publisher, not expired, and of the kind that this agent runs. Writes
 * and runs nothing.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import { native } from "@catenet/crypto/native"
import { clause } from "@catenet/domain/values/Sentence"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import { Effect, FileSystem, Result } from "effect"
import type { InstallTerms } from "../../settings/MemberSettings.ts"
import { InstallRejected } from "./InstallReport.ts"
import { addressOf, type Bounds, fetchBytes } from "./SecureDownload.ts"

/** Publishers whose manifests may be installed: the keys of the variable, and those of the file, which is read at every use. */
const unreadable = (detail: string) =>
  new InstallRejected({ reason: "trust_allowlist_unreadable", detail, manifestId: undefined })

/** One key per line; `#` begins a comment. An invalid line makes the whole list unusable. */
const ofFile = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(path), () =>
    unreadable("The file of CT_MANIFEST_TRUST_ALLOWLIST_FILE cannot be read.")
  )
  const keys: Array<Uint8Array> = []
  for (const [index, line] of text.split(/\r?\n/u).entries()) {
    const word = line.replace(/#.*/su, "").trim()
    if (word === "") continue
    const key = Hex.decode(word, 32)
    if (Result.isFailure(key))
      return yield* unreadable(
        `Line ${index + 1} of the file of CT_MANIFEST_TRUST_ALLOWLIST_FILE is no key of 64 hex digits.`
      )
    keys.push(key.success)
  }
  return keys
})

export const keysOf = Effect.fn("ManifestApproval.keysOf")(function* ({ trusted, trustedFile }: InstallTerms) {
  return trustedFile === undefined ? trusted : [...trusted, ...(yield* ofFile(trustedFile))]
})

export type Manifest = ServiceManifest.ServiceManifest

export interface Approved {
  readonly manifest: Manifest
  readonly bundle: URL
}

const manifestBounds: Bounds = { bytes: 65_536, seconds: 8 }

/** Names that a service may have in its environment. */
const variableName = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/u

/** Limits of this agent's installer, and what a manifest must not contain. */
const refusalOf = ({ bundle, envTemplate, environment, installerKind, verify }: Manifest) => {
  if (installerKind !== "binary")
    return [
      "installer_kind_unsupported",
      `The manifest wants the installer "${installerKind}". This agent runs bundles of the kind "binary" alone: no compose file, no cluster.`
    ] as const
  if (environment !== undefined)
    return [
      "sandbox_unavailable",
      "The manifest has an environment block, which asks for a sandbox. This agent has none, so it would not keep what the block promises."
    ] as const
  if (addressOf(bundle.url) === undefined)
    return ["bundle_url_not_https", "The bundle of the manifest is not at an https address."] as const
  if (bundle.composeFile === "")
    return ["no_program", "The manifest names no program of the bundle to run (bundle.compose_file)."] as const
  const wrong = envTemplate.find(({ name }) => !variableName.test(name))
  if (wrong !== undefined)
    return ["env_template_invalid", "The manifest names a variable that no environment can have."] as const
  return verify.timeoutSecs === 0n && verify.script !== ""
    ? (["verify_timeout_zero", "The manifest gives its verify script no time."] as const)
    : undefined
}

/** The manifest at this address, when all of it holds. */
export const approve = Effect.fn("ManifestApproval.approve")(function* (
  location: string,
  trusted: ReadonlyArray<Uint8Array>
) {
  let manifestId: string | undefined
  const rejected = (reason: string, detail: string) => new InstallRejected({ reason, detail, manifestId })
  const url = addressOf(location)
  if (url === undefined)
    return yield* rejected(
      "manifest_location_not_https",
      "The location of the manifest is no https address without a password in it."
    )
  if (trusted.length === 0)
    return yield* rejected(
      "publisher_not_on_trust_allowlist",
      "This agent trusts no publisher: CT_MANIFEST_TRUST_ALLOWLIST is empty."
    )
  const text = yield* fetchBytes(url, manifestBounds).pipe(
    Effect.map((bytes) => new TextDecoder().decode(bytes)),
    Effect.mapError(({ why }) => rejected("manifest_not_fetched", `The manifest ${clause(why)}.`))
  )
  const read = ServiceManifest.json.parse(text)
  if (Result.isFailure(read))
    return yield* rejected("manifest_malformed", "What is at manifest_location is no signed service manifest.")
  const manifest = read.success
  manifestId = Hex.encode(manifest.manifestId)
  if (!ServiceManifest.isTrusted(trusted, manifest.publisher))
    return yield* rejected(
      "publisher_not_on_trust_allowlist",
      "The publisher of the manifest is not on this agent's list (CT_MANIFEST_TRUST_ALLOWLIST)."
    )
  const now = yield* unixSecondsBigInt
  if (now >= manifest.expiresAt) return yield* rejected("manifest_expired", "The manifest has expired.")
  if (!ServiceManifest.verify(native, manifest, now))
    return yield* rejected("manifest_signature_invalid", "The manifest is not signed by its publisher.")
  const refusal = refusalOf(manifest)
  if (refusal !== undefined) return yield* rejected(refusal[0], refusal[1])
  const bundle = addressOf(manifest.bundle.url)
  if (bundle === undefined) return yield* rejected("bundle_url_not_https", "The bundle is not at an https address.")
  const approved: Approved = { manifest, bundle }
  return approved
})
