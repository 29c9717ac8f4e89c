/**
 * The signed list of what a release consists of (section 15.1), and the verdict on one downloaded asset. The signature
 * covers the manifest file exactly as served and is the only one that is verified strictly.
 */
import { Data, Option, Record, Redacted, Result, Schema } from "effect"
import * as Base64 from "../Base64.ts"
import * as Bytes from "../Bytes.ts"
import * as Hex from "../Hex.ts"
import * as JsonField from "../JsonField.ts"
import type { Suite } from "../Suite.ts"

// The `.sha256` file beside an asset (section 15.1): lines of `hex`, `hex  name` or `hex *name`.

/** The file does not contain exactly one digest for the asset. */
export class NoChecksum extends Data.TaggedError("NoChecksum")<{ readonly why: string }> {
  override get message() {
    return `no checksum: ${this.why}`
  }
}

const none = (why: string) => Result.fail(new NoChecksum({ why }))

/**
 * The digest of an asset: from the line that names it, else from a single line without a name. Blank lines and `#` comments are
 * skipped, directories in front of a name ignored.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 *
 * const text = `# note\n${"00".repeat(32)}  dist/x\n${"11".repeat(32)} *y\n`
 * strictEqual(Result.getOrThrow(ReleaseManifest.digestOf(text, "y"))[0], 0x11)
 * strictEqual(Result.isFailure(ReleaseManifest.digestOf(text, "z")), true)
 * ```
 */
export const digestOf = (text: string, asset: string): Result.Result<Uint8Array, NoChecksum> => {
  const entries: Array<{ readonly digest: Uint8Array; readonly name: string | undefined }> = []
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line === "" || line.startsWith("#")) continue
    const [, hex = "", path] = /^(\S+)(?:\s+\*?(.+))?$/.exec(line) ?? []
    const digest = Hex.decode(hex, 32)
    if (Result.isFailure(digest)) return none("a line does not start with 64 hex characters")
    entries.push({ digest: digest.success, name: path?.split(/[/\\]/).at(-1) })
  }
  const named = entries.filter(({ name }) => name === asset)
  const unnamed = entries.filter(({ name }) => name === undefined)
  if (named.length > 1) return none("the asset is listed twice")
  const [found] = named.length === 1 ? named : unnamed
  if (found === undefined) return none("the asset is not listed")
  return named.length === 1 || unnamed.length === 1
    ? Result.succeed(found.digest)
    : none("several digests without a name")
}

const Manifest = Schema.Struct({
  schema: Schema.Literals([1n]),
  tag: JsonField.Text.check(Schema.isNonEmpty()),
  createdAt: JsonField.U64,
  assets: Schema.Record(JsonField.Text, JsonField.Hex32).check(
    Schema.makeFilter((assets) => Object.keys(assets).length > 0 || "no assets")
  )
}).pipe(Schema.encodeKeys({ createdAt: "created_at" }))

/** A parsed manifest: the digest of each asset by its name. */
export type ReleaseManifest = typeof Manifest.Type

/** Which check an update failed. */
export class ReleaseRefused extends Data.TaggedError("ReleaseRefused")<{
  readonly why: "key" | "missing" | "signature" | "manifest" | "tag" | "asset" | "digest" | "per-asset digest"
}> {
  override get message() {
    return `the release does not verify: ${this.why}`
  }
}

/** Basis of the verdict: the signature, or the checksum file alone. */
export type Verified = "verified" | "unverified-no-key" | "not-provided"

/** Maximum bytes of a manifest, its signature, a checksum file and an asset. */
export const limits = {
  manifest: 262_144,
  signature: 262_144,
  checksumFile: 65_536,
  asset: 268_435_456
} as const

/** The downloaded files of a release, and the asset to verify. */
export interface Download {
  /** 64 hex each, as pinned or configured; any one of them may have signed. */
  readonly pinnedKeys: ReadonlyArray<string>
  readonly manifest: Uint8Array | undefined
  /** The content of `release-manifest.sig`. */
  readonly signature: string | undefined
  readonly tag: string
  readonly asset: string
  readonly content: Uint8Array
  /** The content of `<asset>.sha256`. */
  readonly checksumFile: string | undefined
}

/** The files of a release that are fetched before the asset. */
export type Listing = Omit<Download, "content">

const refused = (why: ReleaseRefused["why"]) => Result.fail(new ReleaseRefused({ why }))

const form = JsonField.form("release manifest", Manifest)

/**
 * Reads a manifest of schema 1 with a tag and at least one asset; nothing is verified.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 *
 * const text = `{"assets":{"ct-agent-linux-x86_64":"${"00".repeat(32)}"},"created_at":1,"schema":1,"tag":"v1.2.3"}`
 * ok(Result.isSuccess(ReleaseManifest.parse(new TextEncoder().encode(text))))
 * ```
 */
export const parse = (file: Uint8Array): Result.Result<ReleaseManifest, ReleaseRefused> =>
  Bytes.toText(file).pipe(
    Result.flatMap(form.parse),
    Result.mapError(() => new ReleaseRefused({ why: "manifest" }))
  )

/**
 * The content of the signature file for a manifest file.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Redacted } from "effect"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const seed = Redacted.make(new Uint8Array(32).fill(9))
 * const file = new TextEncoder().encode("{}")
 * const key = portable.ed25519.publicKey(Redacted.value(seed))
 * ok(ReleaseManifest.isSignedBy(portable, [key], file, ReleaseManifest.sign(portable, seed, file)))
 * ```
 */
export const sign = (suite: Suite, releaseSeed: Redacted.Redacted<Uint8Array>, file: Uint8Array): string =>
  Base64.encode(suite.ed25519.sign(Redacted.value(releaseSeed), file))

/**
 * Whether one of the keys signed exactly this file, by the strict rule.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * ok(!ReleaseManifest.isSignedBy(portable, [], new Uint8Array(0), "!!"))
 * ```
 */
export const isSignedBy = (
  suite: Suite,
  keys: ReadonlyArray<Uint8Array>,
  file: Uint8Array,
  signatureFile: string
): boolean => {
  const signature = Base64.decode(signatureFile.trim())
  return Result.isSuccess(signature) && keys.some((key) => suite.ed25519.verify(key, file, signature.success))
}

const withoutV = (tag: string): string => (tag.startsWith("v") ? tag.slice(1) : tag)

/**
 * The verdict on a downloaded asset. With a pinned key: manifest and signature must be there, the signature must hold,
 * the tag must be the release's (one leading `v` apart), and the digests of manifest, checksum file and content must
 * agree. Without one the checksum file alone decides, and the verdict says so.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as Hex from "@catenet/crypto/Hex"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const content = Uint8Array.of(97)
 * const download = { tag: "v1.2.3", asset: "a", content, checksumFile: Hex.encode(portable.sha256(content)) }
 * const unsigned = { pinnedKeys: [], manifest: undefined, signature: undefined, ...download }
 * strictEqual(Result.getOrThrow(ReleaseManifest.judge(portable, unsigned)), "not-provided")
 * ```
 */
export const judge = (suite: Suite, download: Download): Result.Result<Verified, ReleaseRefused> =>
  Result.gen(function* () {
    const keys = Result.all(download.pinnedKeys.map((key) => Hex.decode(key, 32)))
    if (Result.isFailure(keys)) return yield* refused("key")
    const listed = keys.success.length === 0 ? undefined : yield* signedDigest(suite, keys.success, download)
    const digest = suite.sha256(download.content)
    if (listed !== undefined && !Bytes.equal(listed, digest)) return yield* refused("digest")
    const checksum = digestOf(download.checksumFile ?? "", download.asset)
    if (Result.isFailure(checksum)) return yield* refused("per-asset digest")
    if (!Bytes.equal(checksum.success, digest))
      return yield* refused(listed === undefined ? "digest" : "per-asset digest")
    if (listed !== undefined) return "verified"
    return download.manifest === undefined ? "not-provided" : "unverified-no-key"
  })

/**
 * The digest that the asset must have, known before it is fetched. A pinned key is required: without a signature nothing can be
 * verified. `skipChecksum` leaves the checksum file out, and nothing else.
 *
 * ```ts
 * import { ok } from "node:assert"
 * import { Result } from "effect"
 * import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
 * import { portable } from "@catenet/crypto/portable"
 *
 * const listing = { pinnedKeys: [], manifest: undefined, signature: undefined, tag: "v1", asset: "a", checksumFile: "" }
 * ok(Result.isFailure(ReleaseManifest.expectedDigest(portable, listing)))
 * ```
 */
export const expectedDigest = (
  suite: Suite,
  listing: Listing,
  skipChecksum = false
): Result.Result<Uint8Array, ReleaseRefused> =>
  Result.gen(function* () {
    const keys = Result.all(listing.pinnedKeys.map((key) => Hex.decode(key, 32)))
    if (Result.isFailure(keys) || keys.success.length === 0) return yield* refused("key")
    const digest = yield* signedDigest(suite, keys.success, listing)
    if (skipChecksum) return digest
    const checksum = digestOf(listing.checksumFile ?? "", listing.asset)
    const agrees = Result.isSuccess(checksum) && Bytes.equal(checksum.success, digest)
    return agrees ? digest : yield* refused("per-asset digest")
  })

const signedDigest = (
  suite: Suite,
  keys: ReadonlyArray<Uint8Array>,
  download: Listing
): Result.Result<Uint8Array, ReleaseRefused> => {
  const { manifest, signature } = download
  if (manifest === undefined || signature === undefined) return refused("missing")
  if (!isSignedBy(suite, keys, manifest, signature)) return refused("signature")
  return Result.flatMap(parse(manifest), ({ tag, assets }) => {
    if (withoutV(tag) !== withoutV(download.tag)) return refused("tag")
    const listed = Option.getOrUndefined(Record.get(assets, download.asset))
    return listed === undefined ? refused("asset") : Result.succeed(listed)
  })
}
