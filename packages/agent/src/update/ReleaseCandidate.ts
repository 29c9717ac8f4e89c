/**
 * Finds and downloads a newer release. Nothing is trusted before the manifest's signature by a pinned key verifies; the tag,
 * digests and checksum file must agree with it.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as Asset from "@catenet/crypto/release/Asset"
import * as ReleaseManifest from "@catenet/crypto/release/ReleaseManifest"
import { clause } from "@catenet/domain/values/Sentence"
import { Http } from "@catenet/platform/Http"
import { Scheduler } from "@catenet/platform/Scheduler"
import { Data, Effect, Result } from "effect"
import { createConnection, proxyFor } from "../carrier/OutgoingProxy.ts"
import type { Source } from "../settings/UpdateVariables.ts"

// Downloads release files. The host is not trusted: time and size are limited, redirects are not followed, and the file stays in
// memory until it is verified.

/** In milliseconds: the contract's bounds of a download. */
const connectBound = 20_000
const wholeBound = 60_000

/** Why there is no file, as the end of a sentence that begins with its address. */
export class FetchFailed extends Data.TaggedError("FetchFailed")<{ readonly reason: string }> {
  override get message() {
    return this.reason
  }
}

interface Bounds {
  /** Size limit in bytes. */
  readonly most: number
  readonly connect?: number
  readonly whole?: number
}

const seconds = (millis: number) => `${millis / 1000} s`

/** The file; `undefined` if the host says that it does not exist. */
export const downloadAsset = Effect.fn("ReleaseCandidate.get")(function* (
  address: string,
  { connect = connectBound, most, whole = wholeBound }: Bounds
) {
  const url = new URL(address)
  const isPlain = url.protocol === "http:"
  const proxy = yield* proxyFor({
    host: url.hostname.replace(/^\[|\]$/gu, ""),
    port: Number(url.port) || (isPlain ? 80 : 443)
  })
  return yield* Effect.callback<Buffer | undefined, FetchFailed>((resume) => {
    const fail = (reason: string) => resume(Effect.fail(new FetchFailed({ reason: `${address} ${reason}` })))
    const options = {
      ...(proxy === undefined ? { agent: false } : { createConnection: createConnection(proxy, { url }) }),
      headers: { accept: "*/*", "user-agent": "ct-agent" }
    } as const
    const request = isPlain ? Http.request(url, options) : Http.secureRequest(url, options)
    request.end()
    const stop = (reason: string) => {
      fail(reason)
      request.destroy()
    }
    const connecting = Scheduler.setTimeout(() => stop(`is not reached within ${seconds(connect)}`), connect)
    const lasting = Scheduler.setTimeout(
      () => stop(`is not received within ${seconds(whole)}: the host or the line is too slow for it`),
      whole
    )
    const settle = () => {
      Scheduler.clearTimeout(connecting)
      Scheduler.clearTimeout(lasting)
    }
    request.once("socket", (socket) => {
      // A connection through a proxy is already established.
      if (isPlain && !socket.connecting) return Scheduler.clearTimeout(connecting)
      socket.once(isPlain ? "connect" : "secureConnect", () => Scheduler.clearTimeout(connecting))
    })
    request.once("error", (error) => fail(`is not received: ${error.message}`))
    request.once("close", settle)
    request.once("response", (response) => {
      const { headers, statusCode: status = 0 } = response
      if (status === 404 || status === 410) {
        resume(Effect.succeed(undefined))
        return request.destroy()
      }
      if (status !== 200) return stop(`answered ${status}`)
      const tooLong = `is longer than ${most} bytes`
      if (Number(headers["content-length"] ?? 0) > most) return stop(tooLong)
      const parts: Array<Buffer> = []
      let length = 0
      response.on("data", (part: Buffer) => {
        length += part.length
        if (length > most) return stop(tooLong)
        parts.push(part)
      })
      response.once("error", () => fail("ended before it was whole"))
      response.once("end", () => resume(Effect.succeed(Buffer.concat(parts, length))))
    })
    return Effect.sync(() => {
      settle()
      request.destroy()
    })
  })
})

/** No update; the sentence says why. */
export class UpdateFailed extends Data.TaggedError("UpdateFailed")<{
  readonly step: "check" | "apply"
  readonly reason: string
  /** Another process of this machine is updating; retry soon. */
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
        downloadAsset(`${url}/${path}`, { most, ...bounds }),
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

/** A newer release with a valid manifest; `undefined` if the newest is not newer. */
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
  if (!Asset.isNewer(version, running)) return undefined

  // From here on by its version, so that all files belong to one release.
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
