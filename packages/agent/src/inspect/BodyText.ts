/** The bodies of recorded messages as a person reads them: unpacked, as text where they are text. */
import { Result } from "effect"
import { brotliDecompressSync, constants, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from "node:zlib"
import { type Body, maxBody } from "./Exchange.ts"
import * as MessageHead from "./MessageHead.ts"

export interface BodyText {
  /** Bytes that passed. */
  readonly size: number
  /** The first of them are kept. */
  readonly kept: number
  /** Unpacked text, or nothing for bytes that are no text. */
  readonly text: string | undefined
  /** As it was sent. */
  readonly bytes: Buffer
  /** It could not be unpacked. */
  readonly isPacked: boolean
}

const options = { maxOutputLength: maxBody, finishFlush: constants.Z_SYNC_FLUSH }
const packings: ReadonlyMap<string, (bytes: Buffer) => Buffer> = new Map([
  ["gzip", (bytes) => gunzipSync(bytes, options)],
  ["x-gzip", (bytes) => gunzipSync(bytes, options)],
  ["deflate", (bytes) => ((bytes[0] ?? 0) % 16 === 8 ? inflateSync(bytes, options) : inflateRawSync(bytes, options))],
  [
    "br",
    (bytes) => brotliDecompressSync(bytes, { maxOutputLength: maxBody, finishFlush: constants.BROTLI_OPERATION_FLUSH })
  ],
  ["zstd", (bytes) => zstdDecompressSync(bytes, { maxOutputLength: maxBody })]
])

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
// eslint-disable-next-line no-control-regex -- what a text does not have
const binary = /[\u0000-\u0008\u000b\u000e-\u001a\u001c-\u001f]/u

/** UTF-8 of any characters but controls; a sequence that the end of what is kept cuts through is left out. */
export const textOf = (bytes: Buffer, isCut: boolean): string | undefined => {
  for (let cut = 0; cut <= (isCut ? 3 : 0); cut++) {
    const text = Result.try(() => utf8.decode(bytes.subarray(0, bytes.length - cut)))
    if (Result.isSuccess(text)) return binary.test(text.success) ? undefined : text.success
  }
  return undefined
}

const unpacked = (bytes: Buffer, codings: ReadonlyArray<string>): Buffer | undefined => {
  let left = bytes
  for (const coding of codings.toReversed()) {
    const unpack = packings.get(coding)
    if (unpack === undefined) return undefined
    const result = Result.try(() => unpack(left))
    if (Result.isFailure(result)) return undefined
    left = result.success
  }
  return left
}

export const read = (body: Body, head: MessageHead.MessageHead): BodyText => {
  const bytes = body.bytes()
  const codings = (MessageHead.valueOf(head, "content-encoding") ?? "")
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity")
    .slice(0, 4)
  const plain = bytes.length === 0 ? bytes : unpacked(bytes, codings)
  const text = plain === undefined ? undefined : textOf(plain, !body.isComplete || codings.length > 0)
  return { size: body.size, kept: body.kept, bytes, text, isPacked: plain === undefined }
}

/** JSON with line breaks, and every other text as it is. */
export const pretty = (text: string): string => {
  const first = text.trimStart().charAt(0)
  if (first !== "{" && first !== "[") return text
  const value = Result.try((): unknown => JSON.parse(text))
  return Result.isSuccess(value) ? JSON.stringify(value.success, null, 2) : text
}
