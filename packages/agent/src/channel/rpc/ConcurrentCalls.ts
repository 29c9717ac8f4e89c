/**
 * The extension that two members of this program agree on in `initialize`: many calls run at once on one session, each answered when
 * it is done, and the serving side tells when its tools have changed. A member that does not ask for it is served one request at a
 * time, in order, as the contract has it; one that does not know it answers without it. Pure.
 */
import type * as Json from "@catenet/crypto/Json"
import type { Request } from "@catenet/crypto/rpc/Envelope"
import { Option, Record } from "effect"
import { isObject, type JsonObject } from "./Tool.ts"

const name = "catenet/concurrent"

/** Calls of one session that run at the same time; the next ones wait for their turn. */
export const maxAtOnce = 64

/** What the calling side sends with `initialize`. */
export const offer = (clientInfo: JsonObject): JsonObject => ({
  protocolVersion: "2024-11-05",
  capabilities: { experimental: { [name]: {} } },
  clientInfo
})

/** The capabilities of a serving side that has accepted the offer. */
export const accepted: JsonObject = { tools: { listChanged: true }, experimental: { [name]: {} } }

const memberOf = (value: Json.Json | undefined, key: string) =>
  isObject(value) ? Option.getOrUndefined(Record.get(value, key)) : undefined

/** Whether the parameters of `initialize`, or its result, have the extension. */
export const isIn = (value: Json.Json | undefined): boolean =>
  memberOf(memberOf(memberOf(value, "capabilities"), "experimental"), name) !== undefined

/** Whether a request asks for the extension. */
export const isAskedBy = ({ method, params }: Request): boolean => method === "initialize" && isIn(params)
