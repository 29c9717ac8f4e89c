/**
 * Reads a bundle from the blocks of a tar archive (POSIX ustar with the long names of pax and GNU). Only files and folders with
 * plain paths are accepted: a link, a device or a path outside rejects the archive. Packages from npm accept more than this may:
 * modern-tar reads a damaged pax header as another path, nanotar ignores checksums and rewrites paths, tar-stream and tar bring
 * four and five packages; the checks, half of this file, would remain.
 */
import { Result } from "effect"

export interface ArchiveFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

export interface Archive {
  readonly files: ReadonlyArray<ArchiveFile>
  /** Folders named by the archive; files may be in others. */
  readonly folders: ReadonlyArray<string>
}

export const maxEntries = 4096
const longestPath = 512
const longestName = 255
const block = 512
const maxPaxBytes = 65_536

const text = new TextDecoder("utf-8", { fatal: true })

/** Thrown inside, and a failure outside. */
class Refusal {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}
const refuse = (why: string): never => {
  throw new Refusal(why)
}

const textOf = (bytes: Uint8Array) => {
  const end = bytes.indexOf(0)
  try {
    return text.decode(end < 0 ? bytes : bytes.subarray(0, end))
  } catch {
    return refuse("has a name that is not UTF-8")
  }
}

const octal = (bytes: Uint8Array, what: string) => {
  const digits = textOf(bytes).trim()
  return /^[0-7]{1,11}$/.test(digits) ? Number.parseInt(digits, 8) : refuse(`has a header with a damaged ${what}`)
}

/** The sum of a header's bytes, its own field as blanks. */
const sumOf = (header: Uint8Array) => {
  let sum = 0
  for (let at = 0; at < block; at++) sum += at >= 148 && at < 156 ? 0x20 : (header[at] ?? 0)
  return sum
}

/** The path of a pax header; its other records change nothing here. */
const paxPath = (bytes: Uint8Array) => {
  let at = 0
  let path: string | undefined
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at)
    const length = space < 0 ? Number.NaN : Number(textOf(bytes.subarray(at, space)))
    if (!Number.isInteger(length) || length < space - at + 3 || at + length > bytes.length)
      return refuse("has a damaged pax header")
    const record = textOf(bytes.subarray(space + 1, at + length - 1))
    if (record.startsWith("path=")) path = record.slice(5)
    at += length
  }
  return path
}

/** A path as it is written below the folder of the service; the folder itself is the empty one. */
const plain = (raw: string) => {
  if (raw.length > longestPath) return refuse("has a path that is too long")
  if (/[\p{Cc}\\]/u.test(raw)) return refuse("has a path with a control character or a backslash")
  if (raw.startsWith("/")) return refuse("has an absolute path")
  const parts = raw.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.includes("..")) return refuse("has a path that leads out of its folder")
  if (parts.some((part) => Buffer.byteLength(part) > longestName)) return refuse("has a name that is too long")
  if (parts.length === 1 && parts[0]?.toLowerCase().startsWith(".ct-agent"))
    return refuse("has a file of the agent's own")
  return parts.join("/")
}

const kindOf = (flag: number): "file" | "folder" | "pax" | "ignored" | "long" => {
  switch (String.fromCharCode(flag)) {
    case "\0":
    case "0":
      return "file"
    case "5":
      return "folder"
    case "x":
      return "pax"
    case "g":
      return "ignored"
    case "L":
      return "long"
    case "1":
    case "2":
      return refuse("holds a link")
    default:
      return refuse("holds something that is neither a file nor a folder")
  }
}

const readAll = (bytes: Uint8Array): Archive => {
  const files: Array<ArchiveFile> = []
  const folders: Array<string> = []
  const taken = new Set<string>()
  let next: string | undefined
  let entries = 0
  for (let at = 0; ;) {
    const header = bytes.subarray(at, at + block)
    if (header.length < block) return refuse("ends in the middle")
    if (header.every((byte) => byte === 0)) break
    if (octal(header.subarray(148, 156), "sum") !== sumOf(header)) return refuse("has a damaged header")
    if (++entries > maxEntries) return refuse(`has more than ${maxEntries} entries`)
    const kind = kindOf(header[156] ?? 0)
    const size = octal(header.subarray(124, 136), "size")
    const content = bytes.subarray(at + block, at + block + size)
    if (content.length < size) return refuse("ends in the middle")
    at += block + Math.ceil(size / block) * block
    if (kind === "ignored") continue
    if (kind === "pax" || kind === "long") {
      if (size > maxPaxBytes) return refuse("has a header that is too long")
      next = kind === "long" ? textOf(content) : (paxPath(content) ?? next)
      continue
    }
    const isUstar = textOf(header.subarray(257, 263)).startsWith("ustar")
    const prefix = isUstar ? textOf(header.subarray(345, 500)) : ""
    const path = plain(next ?? (prefix === "" ? "" : `${prefix}/`) + textOf(header.subarray(0, 100)))
    next = undefined
    if (kind === "folder") {
      if (path !== "") folders.push(path)
      continue
    }
    if (path === "") return refuse("has a file without a name")
    if (taken.has(path)) return refuse("names a file twice")
    taken.add(path)
    files.push({ path, bytes: content, isExecutable: (octal(header.subarray(100, 108), "mode") & 0o100) !== 0 })
  }
  return { files, folders }
}

/** The failure is the end of a sentence that begins with "the bundle". */
export const read = (bytes: Uint8Array): Result.Result<Archive, string> => {
  try {
    return Result.succeed(readAll(bytes))
  } catch (error) {
    if (error instanceof Refusal) return Result.fail(error.why)
    throw error
  }
}
