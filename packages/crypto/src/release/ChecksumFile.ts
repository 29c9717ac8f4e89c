/** The `.sha256` file beside an asset (section 15.1): lines of `hex`, `hex  name` or `hex *name`. */
import { Data, Result } from "effect"
import * as Hex from "../Hex.ts"

/** The file does not say exactly one digest for the asset. */
export class NoChecksum extends Data.TaggedError("NoChecksum")<{ readonly why: string }> {
  override get message() {
    return `no checksum: ${this.why}`
  }
}

const none = (why: string) => Result.fail(new NoChecksum({ why }))

/**
 * The digest the file gives for an asset: of the line that names it, else a single line without a name. Blank lines and
 * `#` comments are skipped, directories in front of a name ignored.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as ChecksumFile from "@catenet/crypto/release/ChecksumFile"
 *
 * const text = `# note\n${"00".repeat(32)}  dist/x\n${"11".repeat(32)} *y\n`
 * strictEqual(Result.getOrThrow(ChecksumFile.digestOf(text, "y"))[0], 0x11)
 * strictEqual(Result.isFailure(ChecksumFile.digestOf(text, "z")), true)
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
