/**
 * Messages beside requests and responses, between members that both know them: progress towards a caller that has asked for it, and
 * the cancellation of the request that is running. Others neither send nor get them.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Json from "@catenet/crypto/Json"
import { Option, Record, Result } from "effect"
import { isObject, type JsonObject } from "./Tool.ts"

export const progress = "notifications/progress"
export const cancelled = "notifications/cancelled"

export const write = (method: string, params: JsonObject): string => Json.write({ jsonrpc: "2.0", method, params })

/** The parameters of a message of this method, or undefined for any other message. */
export const read = (message: Uint8Array, method: string): JsonObject | undefined => {
  // Most messages are something else; those are not parsed here.
  if (!Buffer.from(message.buffer, message.byteOffset, message.byteLength).includes(method)) return undefined
  const value = Result.getOrUndefined(Result.flatMap(Bytes.toText(message), Json.parse))
  if (!isObject(value) || Option.getOrUndefined(Record.get(value, "method")) !== method) return undefined
  if (Option.isSome(Record.get(value, "id"))) return undefined
  const params = Option.getOrUndefined(Record.get(value, "params"))
  return isObject(params) ? params : {}
}
