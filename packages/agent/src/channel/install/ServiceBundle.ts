/** Downloads the bundle of an approved manifest, compares its digest, and reads it. Writes nothing. */
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import * as Hex from "@catenet/crypto/Hex"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Result } from "effect"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import * as BundleArchive from "./BundleArchive.ts"
import { InstallRejected } from "./InstallReport.ts"
import type { Approved } from "./ManifestApproval.ts"
import { type Bounds, fetchBytes } from "./SecureDownload.ts"

/** Whether a file is a program that this machine runs, by the first bytes of it. Pure. */
export interface Machine {
  readonly platform: string
  readonly arch: string
}

/** Numbers of ELF for the processors that Node names. */
const elf: ReadonlyMap<string, number> = new Map([
  ["x64", 62],
  ["ia32", 3],
  ["arm64", 183],
  ["arm", 40],
  ["riscv64", 243],
  ["ppc64", 21],
  ["s390x", 22],
  ["loong64", 258]
])
/** Magic numbers of Mach-O. */
const mach: ReadonlyMap<string, number> = new Map([
  ["x64", 0x0100_0007],
  ["arm64", 0x0100_000c]
])

const other = (what: string, { arch, platform }: Machine) => `is ${what}, and this machine is ${platform} on ${arch}`

/** Why it cannot be run, as the end of a sentence; undefined if it can. */
export const refusalOf = (bytes: Uint8Array, machine: Machine): string | undefined => {
  const { arch, platform } = machine
  const head = Buffer.from(bytes.subarray(0, 64))
  const isWindows = platform === "win32"
  if (head.subarray(0, 2).toString("latin1") === "#!")
    return isWindows ? other("a script for a shell", machine) : undefined
  if (head.subarray(0, 2).toString("latin1") === "MZ")
    return isWindows ? undefined : other("a program for Windows", machine)
  if (head.length < 20) return "is neither a program nor a script that begins with #!"
  if (head.subarray(0, 4).toString("latin1") === "\x7fELF") {
    const number = head[5] === 2 ? head.readUInt16BE(18) : head.readUInt16LE(18)
    const isOwn = platform !== "darwin" && !isWindows && elf.get(arch) === number
    return isOwn ? undefined : other(`a program in ELF for another system or processor (${number})`, machine)
  }
  const magic = head.readUInt32BE(0)
  // A universal binary lists its processors.
  if (magic === 0xcafe_babe || magic === 0xcafe_babf)
    return platform === "darwin" ? undefined : other("a program for macOS", machine)
  if (magic === 0xcffa_edfe)
    return platform === "darwin" && mach.get(arch) === head.readUInt32LE(4)
      ? undefined
      : other("a program for macOS or another processor of it", machine)
  return "is neither a program nor a script that begins with #!"
}

const longestBundle = 32 * 1024 * 1024
const bundleBounds: Bounds = { bytes: longestBundle, seconds: 15 }
const maxUnpackedBytes = 64 * 1024 * 1024

const unzip = promisify(gunzip)

/** `code` is zlib's code for output beyond the limit. */
const unzipProblem = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
    ? `has more than ${maxUnpackedBytes} bytes when it is unpacked`
    : "is no whole tar.gz archive"

const plainPath = (path: string) => path.replace(/^(?:\.\/+)+/u, "")

export interface Contents {
  readonly archive: BundleArchive.Archive
  /** The archive's files, the program, and the verify script. */
  readonly program: string
  readonly verify: string | undefined
}

/** Fetches and reads the bundle for this machine. */
export const fetch = Effect.fn("ServiceBundle.fetch")(function* (
  { bundle: url, manifest }: Approved,
  machine: Machine
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
  const foreign = refusalOf(program.bytes, machine)
  if (foreign !== undefined) return yield* rejected("platform_unsupported", `The program of the bundle ${foreign}.`)
  const script = verify.script === "" ? undefined : find(verify.script)
  if (verify.script !== "" && script === undefined)
    return yield* rejected("no_verify_script", "The bundle does not hold the verify script that its manifest names.")
  const contents: Contents = { archive, program: program.path, verify: script?.path }
  return contents
})
