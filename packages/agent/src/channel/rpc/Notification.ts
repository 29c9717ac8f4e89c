/**
 * Notifications between members that support them: progress, cancellation, and that the tools have changed. Other members neither
 * send nor receive them.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import type { Request } from "@catenet/crypto/rpc/Envelope"
import { Option, Record, Result } from "effect"
import { isObject, type JsonObject } from "./Tool.ts"

/**
 * An extension that two members of this program agree on in `initialize`: many calls run concurrently on one session, and the
 * serving side reports changes of its tools. A member that does not ask for it is served one request at a time, in order, as in
 * the contract; one that does not know it ignores it.
 */
const name = "catenet/concurrent"

/**
 * A second extension: from the byte behind the answer on, both members speak in frames (see `MessageFrames`), and every message of MCP
 * passes both ways.
 */
const frames = "catenet/frames"
const framesVersion: JsonObject = { version: 1n }

/** Calls of one session that run at the same time; the next ones wait for their turn. */
export const maxAtOnce = 64

/** The calling side's part of `initialize`. */
export const offer = (clientInfo: JsonObject, offersFrames = false): JsonObject => ({
  protocolVersion: "2024-11-05",
  capabilities: { experimental: { [name]: {}, ...(offersFrames ? { [frames]: framesVersion } : {}) } },
  clientInfo
})

/** The capabilities of a serving side that goes on in frames. */
export const acceptedFrames: JsonObject = { tools: { listChanged: true }, experimental: { [frames]: framesVersion } }

/** The capabilities of a serving side that has accepted the offer. */
export const accepted: JsonObject = { tools: { listChanged: true }, experimental: { [name]: {} } }

const memberOf = (value: Json.Json | undefined, key: string) =>
  isObject(value) ? Option.getOrUndefined(Record.get(value, key)) : undefined

const extension = (value: Json.Json | undefined, called: string) =>
  memberOf(memberOf(memberOf(value, "capabilities"), "experimental"), called)

/** Whether the parameters of `initialize`, or its result, have the extension. */
export const isIn = (value: Json.Json | undefined): boolean => extension(value, name) !== undefined

/** Whether they have frames, in the version that is known here. */
export const hasFrames = (value: Json.Json | undefined): boolean =>
  memberOf(extension(value, frames), "version") === framesVersion["version"]

/** Whether a request asks for the extension. */
export const isAskedBy = ({ method, params }: Request): boolean => method === "initialize" && isIn(params)

const prefix = "notifications/"
export const progress = "notifications/progress"
export const cancelled = "notifications/cancelled"
export const toolsChanged = "notifications/tools/list_changed"

export const write = (method: string, params: JsonObject = {}): string => Json.write({ jsonrpc: "2.0", method, params })

interface Notification {
  readonly method: string
  readonly params: JsonObject
}

/** The notification that a message is, or undefined for any other message. */
export const any = (message: Uint8Array): Notification | undefined => {
  // Most messages are something else and are not parsed here.
  if (!Buffer.from(message.buffer, message.byteOffset, message.byteLength).includes(prefix)) return undefined
  const value = Result.getOrUndefined(Result.flatMap(Bytes.toText(message), Json.parse))
  if (!isObject(value) || Option.isSome(Record.get(value, "id"))) return undefined
  const method = Option.getOrUndefined(Record.get(value, "method"))
  if (typeof method !== "string" || !method.startsWith(prefix)) return undefined
  const params = Option.getOrUndefined(Record.get(value, "params"))
  return { method, params: isObject(params) ? params : {} }
}

/** The parameters of a notification of this method, or undefined for any other message. */
export const read = (message: Uint8Array, method: string): JsonObject | undefined => {
  const found = any(message)
  return found?.method === method ? found.params : undefined
}
