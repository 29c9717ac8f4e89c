/**
 * The names of what several peers have, in one list: `peer.NAME` for tools and prompts, `catenet://peer/URI` for resources and their
 * templates, so that nothing collides and each name says whose it is. Pure.
 */
import type * as Json from "@catenet/crypto/Json"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import { memberOf } from "./McpResult.ts"

const prefixOf = (peer: string, member: "name" | "uri" | "uriTemplate") =>
  member === "name" ? `${peer}.` : `catenet://${peer}/`

/** The value with this member as the client knows it. */
export const outward = (peer: string, member: "name" | "uri" | "uriTemplate", value: Json.Json): Json.Json => {
  const text = textOf(value, member)
  return text === undefined || !isObject(value) ? value : { ...value, [member]: prefixOf(peer, member) + text }
}

/** The value with this member as the peer knows it; undefined where it is not this peer's. */
const inward = (peer: string, member: "name" | "uri", value: Json.Json): JsonObject | undefined => {
  const text = textOf(value, member)
  const prefix = prefixOf(peer, member)
  return isObject(value) && text?.startsWith(prefix) === true
    ? { ...value, [member]: text.slice(prefix.length) }
    : undefined
}

/** The parameters of a request as the peer knows them; undefined where what they name is not this peer's. */
export const asked = (peer: string, method: string, params: JsonObject): JsonObject | undefined => {
  if (method !== "completion/complete") return inward(peer, method.startsWith("resources/") ? "uri" : "name", params)
  const ref = memberOf(params, "ref") ?? null
  const own = inward(peer, textOf(ref, "type") === "ref/prompt" ? "name" : "uri", ref)
  return own === undefined ? undefined : { ...params, ref: own }
}

/** A link to a resource, or one that is in the message itself. */
const content = (peer: string, value: Json.Json): Json.Json => {
  const type = textOf(value, "type")
  if (type === "resource_link") return outward(peer, "uri", value)
  const resource = type === "resource" ? memberOf(value, "resource") : undefined
  return isObject(value) && resource !== undefined ? { ...value, resource: outward(peer, "uri", resource) } : value
}

/** What is in the lists of results, by the member that has the list. */
const entries: ReadonlyMap<string, (peer: string, value: Json.Json) => Json.Json> = new Map([
  ["content", content],
  ["contents", (peer: string, value: Json.Json) => outward(peer, "uri", value)],
  [
    "messages",
    (peer: string, value: Json.Json) => {
      const said = memberOf(value, "content")
      return isObject(value) && said !== undefined ? { ...value, content: content(peer, said) } : value
    }
  ]
])

/** The answer of a peer as the client gets it. */
export const answered = (peer: string, answer: JsonObject): JsonObject => {
  const result = memberOf(answer, "result")
  if (!isObject(result)) return answer
  const mapped = Object.entries(result).map(([name, value]): [string, Json.Json] => {
    const entry = entries.get(name)
    return [name, entry !== undefined && Array.isArray(value) ? value.map((each) => entry(peer, each)) : value]
  })
  return { ...answer, result: Object.fromEntries(mapped) }
}
