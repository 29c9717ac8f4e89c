/** JSON messages of a local MCP program, one per line (the stdio transport of the Model Context Protocol). */
import * as Json from "@catenet/crypto/Json"
import { Effect, Result } from "effect"
import type { Readable, Writable } from "node:stream"
import { isObject, type JsonObject } from "../rpc/Tool.ts"
import { maxMessage } from "./MessageFrames.ts"

/** Bytes that a line may have: what one message in frames may have. */
export const longestLine = maxMessage

/** An invalid line. */
export interface Unreadable {
  /** The id of the message, if it has one. */
  readonly id: Json.Json | undefined
  /** Whether it has a method, unlike a response. */
  readonly isRequest: boolean
  readonly isTooLong: boolean
  /** The problem, as a clause. */
  readonly why: string
}

export interface LineReader {
  /** `line` is the message as it came. */
  readonly onMessage: (message: JsonObject, line: Buffer) => void
  /** Several messages in one line (JSON-RPC 2.0, section 6). */
  readonly onBatch: (messages: ReadonlyArray<Json.Json>) => void
  readonly onUnreadable: (line: Unreadable) => void
}

/** Bytes of a member of the message that are kept: an id is shorter. */
const longestMember = 1024
const code = (character: string) => character.charCodeAt(0)
const [quote, backslash, comma, colon] = [code('"'), code("\\"), code(","), code(":")]
const opening = new Set([code("{"), code("[")])
const closing = new Set([code("}"), code("]")])
const lineFeed = 10

/** Finds the `id` needed for a response in a message that cannot be parsed. */
class IdSearch {
  #depth = 0
  #isText = false
  #isEscaped = false
  #key = ""
  #member = ""
  id: Json.Json | undefined
  isRequest = false

  push(bytes: Uint8Array): void {
    for (const byte of bytes) this.#read(byte)
  }

  #read(byte: number) {
    if (this.#isText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === backslash) this.#isEscaped = true
      else if (byte === quote) this.#isText = false
      return this.#keep(byte)
    }
    if (byte === quote) this.#isText = true
    if (opening.has(byte)) this.#depth++
    if (closing.has(byte) && --this.#depth === 0) return this.#end()
    if (this.#depth === 1 && byte === comma) return this.#end()
    if (this.#depth === 1 && byte === colon) return this.#begin()
    if (this.#depth === 1 && opening.has(byte)) return
    this.#keep(byte)
  }

  #keep(byte: number) {
    if (this.#depth === 1 && this.#member.length < longestMember) this.#member += String.fromCharCode(byte)
  }

  #value() {
    return Result.getOrUndefined(Json.parse(Buffer.from(this.#member, "latin1").toString("utf8").trim()))
  }

  #begin() {
    const key = this.#value()
    this.#key = typeof key === "string" ? key : ""
    this.#member = ""
  }

  #end() {
    if (this.#key === "method") this.isRequest = true
    const value = this.#key === "id" ? this.#value() : undefined
    if (value !== undefined && value !== null && typeof value !== "object") this.id = value
    this.#key = ""
    this.#member = ""
  }
}

const tooLong = `is longer than ${longestLine} bytes, the most that ct-agent reads`

/** Characters of a message above which the runtime's parser reads it, which is many times faster and rounds integers above 2^53. */
const longText = 64 * 1024

/** A message as JSON; its id is exact. */
export const parse = (text: string): ReturnType<typeof Json.parse> => {
  if (text.length <= longText) return Json.parse(text)
  try {
    const value: Json.Json = JSON.parse(text)
    if (!isObject(value) || typeof value["id"] !== "number") return Result.succeed(value)
    return Number.isSafeInteger(value["id"]) ? Result.succeed({ ...value, id: BigInt(value["id"]) }) : Json.parse(text)
  } catch {
    return Json.parse(text)
  }
}

/** A message as a line without its end. */
export const bytesOf = (message: JsonObject): Buffer => Buffer.from(Json.write(message))

/** Identifies a request by its id. */
export const keyOf = (id: Json.Json): string => Json.write(id)

/** Whether a message with an id is an answer, not a request. */
export const isResponse = (message: JsonObject): boolean => typeof message["method"] !== "string"

/** Reads a stream to its end. Invalid lines are reported and skipped, empty ones ignored. */
export const readLines = (stream: Readable, { onBatch, onMessage, onUnreadable }: LineReader): void => {
  let parts: Array<Buffer> = []
  let length = 0
  let search: IdSearch | undefined

  const unreadable = (bytes: Uint8Array, why: string) => {
    const found = new IdSearch()
    found.push(bytes)
    onUnreadable({ id: found.id, isRequest: found.isRequest, isTooLong: false, why })
  }
  const take = (bytes: Buffer) => {
    const text = bytes.toString("utf8").trim()
    if (text === "") return
    const value = parse(text)
    if (Result.isFailure(value)) return unreadable(bytes, `is ${value.failure.message}`)
    if (isObject(value.success)) return onMessage(value.success, bytes)
    if (Array.isArray(value.success)) return onBatch(value.success)
    unreadable(bytes, "is no JSON object")
  }
  const add = (part: Buffer) => {
    length += part.length
    if (search !== undefined) return search.push(part)
    parts.push(part)
    if (length <= longestLine) return
    search = new IdSearch()
    for (const each of parts) search.push(each)
    parts = []
  }
  const end = () => {
    if (search !== undefined)
      onUnreadable({ id: search.id, isRequest: search.isRequest, isTooLong: true, why: tooLong })
    else if (length > 0) take(Buffer.concat(parts, length))
    parts = []
    length = 0
    search = undefined
  }

  stream.on("data", (chunk: Buffer) => {
    let from = 0
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, from)) {
      add(chunk.subarray(from, at))
      end()
      from = at + 1
    }
    if (from < chunk.length) add(chunk.subarray(from))
  })
  stream.once("end", end)
}

/** Whether the first line is a request. Takes nothing from the stream. */
export const firstIsRequest = (stdin: Readable): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    let read = Buffer.alloc(0)
    const done = (isRequest: boolean) => {
      stdin.off("readable", take)
      stdin.off("end", end)
      resume(Effect.succeed(isRequest))
    }
    const end = () => done(false)
    const take = () => {
      for (let chunk: Buffer | null = stdin.read(); chunk !== null; chunk = stdin.read()) {
        read = Buffer.concat([read, chunk])
        const at = read.indexOf("\n")
        if (at < 0 && read.length <= longestLine) continue
        stdin.unshift(read)
        const message = Result.getOrUndefined(parse(read.subarray(0, Math.max(0, at)).toString("utf8")))
        return done(isObject(message) && message["id"] !== undefined && !isResponse(message))
      }
    }
    stdin.on("readable", take)
    stdin.on("end", end)
  })

/** Writes one message, or a batch of them. */
export const writeLine = (stream: Writable, message: JsonObject | ReadonlyArray<JsonObject>): void => {
  if (stream.writable) stream.write(`${Json.write(message)}\n`)
}

/** Writes a message as it came, in one piece with its end, so that its reader wakes once. False while the stream is full. */
export const passLine = (stream: Writable, line: Uint8Array): boolean => {
  stream.cork()
  stream.write(line)
  const hasRoom = stream.write("\n")
  stream.uncork()
  return hasRoom
}
