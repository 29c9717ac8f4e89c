/** A tool that a member offers to its peer: a named function from JSON to JSON. */
import type * as Json from "@catenet/crypto/Json"
import type { Rights } from "@catenet/crypto/Permission"
import { Data, type Effect, Option, Record } from "effect"

/** The caller: its key, proved in the handshake, and the rights of its grant. */
export interface Caller {
  readonly noiseKey: Uint8Array
  readonly rights: Rights
}

/** The tool failed; the text goes to the caller. */
export class ToolFailed extends Data.TaggedError("ToolFailed")<{
  readonly reason: string
  /** A service behind the tool is unreachable; a retry may succeed. */
  readonly isUnreachable?: boolean
}> {
  override get message() {
    return this.reason
  }
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** Calling it changes nothing, so a peer that may only read may call it. */
  readonly isReadOnly: boolean
  /** Further fields of its entry in `tools/list`. */
  readonly listed?: { readonly [key: string]: Json.Json }
  /** `report` is set if the caller wants progress. */
  readonly run: (
    args: Json.Json,
    caller: Caller,
    report?: (progress: JsonObject) => void
  ) => Effect.Effect<Json.Json, ToolFailed>
}

export type JsonObject = { readonly [key: string]: Json.Json }

export const isObject = (value: Json.Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The text in this field of a tool's arguments. */
export const textOf = (args: Json.Json, field: string): string | undefined => {
  const value = isObject(args) ? Option.getOrUndefined(Record.get(args, field)) : undefined
  return typeof value === "string" ? value : undefined
}
