/**
 * Looks for a newer release and fetches it. Nothing of it counts before the manifest's signature by a pinned key holds; the tag,
 * the digest and the checksum file must all agree with it, and the asset with them.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import * as ReleaseVersion from "@catenet/crypto/release/ReleaseVersion"
import { clause } from "@catenet/domain/values/Sentence"
import { Data, Effect, Result } from "effect"
import type { Source } from "../settings/UpdateVariables.ts"
import * as ReleaseDownload from "./ReleaseDownload.ts"

/** No update; the sentence says why. */
export class UpdateFailed extends Data.TaggedError("UpdateFailed")<{
  readonly step: "check" | "apply"
  readonly reason: string
  /** Another process of this machine is at it, and it is worth to ask again soon. */
  readonly isBusy?: boolean
  /** The host of the releases did not answer, or not in full. */
  readonly isAway?: boolean
}> {
  override get message() {
    return this.reason
  }
}

export interface ReleaseCandidate {
  /** Without a leading `v`. */
  readonly version: string
  readonly digest: Uint8Array
}

const sentences: Readonly<Record<ReleaseManifest.ReleaseRefused["why"], string>> = {
  key: "this build has no release key, so it cannot verify an update: set CT_AGENT_RELEASE_PUBKEY, or install by hand",
  missing: "the release has no signed manifest",
  signature: "the manifest of the release is signed by none of the pinned keys",
  manifest: "the manifest of the release cannot be read",
  tag: "the manifest is that of another release",
  asset: "the release has no program for this system",
  digest: "the program is not the one that the manifest lists",
  "per-asset digest": "the checksum file of the program is missing, or does not agree with the manifest"
}

const { limits } = ReleaseManifest
const text = (file: Uint8Array | undefined) => (file === undefined ? undefined : Buffer.from(file).toString("latin1"))

const failing = (step: UpdateFailed["step"]) => {
  const failed = (reason: string) => new UpdateFailed({ step, reason: clause(reason) })
  return {
    failed,
    get: ({ bounds, url }: Source, path: string, most: number) =>
      Effect.mapError(
        ReleaseDownload.get(`${url}/${path}`, { most, ...bounds }),
        ({ reason }) => new UpdateFailed({ step, reason: clause(reason), isAway: true })
      ),
    verified: <A>(result: Result.Result<A, ReleaseManifest.ReleaseRefused>) =>
      Effect.mapError(Effect.fromResult(result), ({ why }) => failed(sentences[why]))
  }
}

const signed = Effect.fnUntraced(function* (source: Source, release: string, { get }: ReturnType<typeof failing>) {
  const manifest = yield* get(source, `${release}/release-manifest.json`, limits.manifest)
  const signature = text(yield* get(source, `${release}/release-manifest.sig`, limits.signature))
  return { manifest, signature }
})

/** A release that is newer than this program and whose manifest holds; `undefined` where the newest is not newer. */
export const check = Effect.fn("ReleaseCandidate.check")(function* (source: Source, running: string) {
  const step = failing("check")
  const { asset } = source
  if (source.keys.length === 0) return yield* step.failed(sentences.key)
  if (asset === undefined) return yield* step.failed(`there are no releases for ${process.platform} on ${process.arch}`)
  const latest = yield* signed(source, "latest", step)
  if (latest.manifest === undefined) return yield* step.failed(`${source.url} has no signed release`)
  const keys = source.keys.flatMap((key) =>
    Result.getOrElse(
      Result.map(Hex.decode(key, 32), (each) => [each]),
      () => []
    )
  )
  if (latest.signature === undefined) return yield* step.failed(sentences.missing)
  if (!ReleaseManifest.isSignedBy(native, keys, latest.manifest, latest.signature))
    return yield* step.failed(sentences.signature)
  const { tag } = yield* step.verified(ReleaseManifest.parse(latest.manifest))
  const version = tag.replace(/^v/u, "")
  if (!/^\d{1,10}(?:\.\d{1,10}){1,3}$/u.test(version))
    return yield* step.failed("the release has no version of numbers")
  if (!ReleaseVersion.isNewer(version, running)) return undefined

  // By its version from here on, so that every file is of one release.
  const checksumFile = text(yield* step.get(source, `${version}/${asset}.sha256`, limits.checksumFile))
  const { manifest, signature } = yield* signed(source, version, step)
  const listing = { pinnedKeys: source.keys, manifest, signature, tag, asset, checksumFile }
  const digest = yield* step.verified(ReleaseManifest.expectedDigest(native, listing, source.skipChecksum))
  return { version, digest } satisfies ReleaseCandidate
})

/** The program of a release, which has the digest that the manifest lists. */
export const download = Effect.fn("ReleaseCandidate.download")(function* (
  source: Source,
  { digest, version }: ReleaseCandidate
) {
  const step = failing("apply")
  const program = yield* step.get(source, `${version}/${source.asset ?? ""}`, limits.asset)
  if (program === undefined) return yield* step.failed("the release lists the program and does not have it")
  if (!Bytes.equal(native.sha256(program), digest)) return yield* step.failed(sentences.digest)
  return program
})
