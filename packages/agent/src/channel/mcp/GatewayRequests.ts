/** What a client of the gateway asks of its peers: lists of what all of them have, and requests that one of them answers. */
import type * as Json from "@catenet/crypto/Json"
import { Effect } from "effect"
import * as Notification from "../rpc/Notification.ts"
import { isObject, type JsonObject, textOf } from "../rpc/Tool.ts"
import { type GatewayPeer, resultOf } from "./GatewayPeer.ts"
import type { Report } from "./GatewaySession.ts"
import { failure, memberOf } from "./McpResult.ts"
import * as McpResult from "./McpResult.ts"
import * as PeerNames from "./PeerNames.ts"
import * as ToolSearch from "./ToolSearch.ts"

/** Time for the peers to be there before the first list, and for their part of another; those that come later are announced. */
const listPatience = "5 seconds"

/** An answer that is an error. */
export class Refusal {
  readonly code: bigint
  readonly message: string
  constructor(code: bigint, message: string) {
    this.code = code
    this.message = message
  }
}

export interface Listing {
  readonly peers: () => ReadonlyArray<GatewayPeer>
  /** Lists that the client has asked for, by the notifications that say that they have changed. */
  readonly listed: Set<string>
}

const toolsOf = ({ peers }: Listing): ReadonlyArray<JsonObject> =>
  peers().flatMap(({ name, tools }) =>
    (tools() ?? []).map((tool) => PeerNames.outward(name, "name", tool)).filter(isObject)
  )

const absences = ({ peers }: Listing) =>
  peers().flatMap((peer) => {
    const why = peer.absence()
    return why === undefined ? [] : [`${peer.name} is not there: ${why}`]
  })

const search = (state: Listing, params: JsonObject) => {
  const query = textOf(memberOf(params, "arguments") ?? null, "query") ?? ""
  return ToolSearch.answer(ToolSearch.find(toolsOf(state), query), absences(state))
}

/** Passes a request to the peer that its parameters name. The answer has `result` or `error`. */
const route = (
  state: Listing,
  method: string,
  params: JsonObject,
  report: Report
): Effect.Effect<JsonObject, Refusal> =>
  Effect.suspend(() => {
    for (const peer of state.peers()) {
      const own = PeerNames.asked(peer.name, method, params)
      if (own === undefined) continue
      return peer.request(method, own, report).pipe(
        Effect.map((answer) => PeerNames.answered(peer.name, answer)),
        Effect.catchTag("PeerAbsent", ({ message }) =>
          method === "tools/call"
            ? Effect.succeed({ result: failure(message) })
            : Effect.fail(new Refusal(-32_000n, message))
        )
      )
    }
    const what = textOf(params, "name") ?? textOf(params, "uri") ?? `what ${method} names`
    const names = state.peers().map(({ name }) => name)
    return Effect.fail(new Refusal(-32_602n, `no peer has ${what}. The peers are: ${names.join(", ")}`))
  })

const call = (state: Listing, given: JsonObject, report: Report): Effect.Effect<JsonObject, Refusal> => {
  const name = textOf(given, "name")
  if (name === "find_tools") return Effect.succeed({ result: search(state, given) })
  if (name !== "call_tool") return route(state, "tools/call", given, report)
  const wanted = memberOf(given, "arguments")
  return route(
    state,
    "tools/call",
    { ...given, name: textOf(wanted ?? null, "name") ?? "", arguments: memberOf(wanted, "arguments") ?? {} },
    report
  )
}

/** Waits for the first attempts to reach the peers. */
const tried = ({ peers }: Listing) =>
  Effect.timeoutOption(
    Effect.forEach(peers(), (peer) => peer.tried, { concurrency: "unbounded", discard: true }),
    listPatience
  )

const listTools = Effect.fnUntraced(function* (state: Listing) {
  yield* tried(state)
  state.listed.add(Notification.toolsChanged)
  const entries = toolsOf(state)
  return { result: { tools: [...(entries.length > ToolSearch.maxListed ? ToolSearch.tools : entries)] } }
})

/** A list that the peers are asked for each time. */
interface Lists {
  readonly capability: string
  /** Where a result has its entries. */
  readonly member: string
  readonly key: "name" | "uri" | "uriTemplate"
}
const lists: ReadonlyMap<string, Lists> = new Map([
  ["resources/list", { capability: "resources", member: "resources", key: "uri" }],
  ["resources/templates/list", { capability: "resources", member: "resourceTemplates", key: "uriTemplate" }],
  ["prompts/list", { capability: "prompts", member: "prompts", key: "name" }]
])

/** The entries of all peers that are there; a peer that does not answer in time is left out. */
const list = Effect.fnUntraced(function* (state: Listing, method: string, { capability, key, member }: Lists) {
  yield* tried(state)
  state.listed.add(`notifications/${capability}/list_changed`)
  const ofPeer = (peer: GatewayPeer) => {
    if (memberOf(peer.capabilities(), capability) === undefined || peer.absence() !== undefined)
      return Effect.succeed([])
    const ask = (params: JsonObject) => Effect.flatMap(peer.request(method, params, undefined), resultOf)
    return McpResult.read(ask, member).pipe(
      Effect.map((found) => found.map((entry) => PeerNames.outward(peer.name, key, entry))),
      Effect.timeout(listPatience),
      Effect.orElseSucceed((): Array<Json.Json> => [])
    )
  }
  const found = yield* Effect.forEach(state.peers(), ofPeer, { concurrency: "unbounded" })
  return { result: { [member]: found.flat() } }
})

/** Requests that one peer answers. */
const ofOnePeer = new Set([
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/get",
  "completion/complete"
])

/** The answer, without its id. */
export const toPeers = (
  state: Listing,
  method: string,
  params: JsonObject,
  report: Report
): Effect.Effect<JsonObject, Refusal> => {
  if (method === "tools/list") return listTools(state)
  if (method === "tools/call") return call(state, params, report)
  const listing = lists.get(method)
  if (listing !== undefined) return list(state, method, listing)
  if (ofOnePeer.has(method)) return route(state, method, params, report)
  return Effect.fail(new Refusal(-32_601n, `unknown method: ${method}`))
}
