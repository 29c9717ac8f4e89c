/** The bundle of an approved manifest: fetched, compared with its digest, and read. Nothing is written here. */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import * as Hex from "@catenet/crypto/Hex"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Result } from "effect"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import * as BundleArchive from "./BundleArchive.ts"
import * as ExecutableFormat from "./ExecutableFormat.ts"
import { InstallRejected } from "./InstallProblem.ts"
import type { Approved } from "./ManifestApproval.ts"
import { type Bounds, fetchBytes } from "./SecureDownload.ts"

const longestBundle = 32 * 1024 * 1024
const bundleBounds: Bounds = { bytes: longestBundle, seconds: 15 }
const maxUnpackedBytes = 64 * 1024 * 1024

const unzip = promisify(gunzip)

/** `code` is that of zlib for an output that is longer than it may be. */
const unzipProblem = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
    ? `has more than ${maxUnpackedBytes} bytes when it is unpacked`
    : "is no whole tar.gz archive"

const plainPath = (path: string) => path.replace(/^(?:\.\/+)+/u, "")

export interface Contents {
  readonly archive: BundleArchive.Archive
  /** Of the archive's files, the one that runs, and the one that says whether it works. */
  readonly program: string
  readonly verify: string | undefined
}

/** Fetches and reads the bundle for this machine. */
export const fetch = Effect.fn("ServiceBundle.fetch")(function* (
  { bundle: url, manifest }: Approved,
  machine: ExecutableFormat.Machine
) {
  const { bundle, verify } = manifest
  const rejected = (reason: string, detail: string) =>
    new InstallRejected({ reason, detail, manifestId: Hex.encode(manifest.manifestId) })
  const packed = yield* Effect.mapError(fetchBytes(url, bundleBounds), ({ why }) =>
    rejected("bundle_not_fetched", `The bundle ${clause(why)}.`)
  )
  const digest = createHash("sha256").update(packed).digest()
  if (!ConstantTime.equal(digest, bundle.sha256))
    return yield* rejected("bundle_digest_mismatch", "The bundle is not the one of the manifest: its SHA-256 differs.")
  const bytes = yield* Effect.tryPromise({
    try: () => unzip(packed, { maxOutputLength: maxUnpackedBytes }),
    catch: (error) => rejected("bundle_refused", `The bundle ${clause(unzipProblem(error))}.`)
  })
  const read = BundleArchive.read(bytes)
  if (Result.isFailure(read)) return yield* rejected("bundle_refused", `The bundle ${clause(read.failure)}.`)
  const archive = read.success
  const find = (path: string) => archive.files.find((file) => file.path === plainPath(path))
  const program = find(bundle.composeFile)
  if (program === undefined)
    return yield* rejected("no_program", "The bundle does not hold the program that its manifest names.")
  const foreign = ExecutableFormat.refusalOf(program.bytes, machine)
  if (foreign !== undefined) return yield* rejected("platform_unsupported", `The program of the bundle ${foreign}.`)
  const script = verify.script === "" ? undefined : find(verify.script)
  if (verify.script !== "" && script === undefined)
    return yield* rejected("no_verify_script", "The bundle does not hold the verify script that its manifest names.")
  const contents: Contents = { archive, program: program.path, verify: script?.path }
  return contents
})
