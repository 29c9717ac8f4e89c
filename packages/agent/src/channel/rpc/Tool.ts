/** What a member offers to its peer: named functions from JSON to JSON. */
import type * as Json from "@catenet/crypto/Json"
import type { Rights } from "@catenet/crypto/Permission"
import { Data, type Effect, Option, Record } from "effect"

/** Who calls: the key that the peer has proved in the handshake, and what its grant permits. */
export interface Caller {
  readonly noiseKey: Uint8Array
  readonly rights: Rights
}

/** The tool did not do what it was asked; the text goes to the caller. */
export class ToolFailed extends Data.TaggedError("ToolFailed")<{
  readonly reason: string
  /** Whom the tool asked could not answer; it may do so later. */
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
  /** `report` is there when the caller wants to know of progress. */
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
