/** What a caller of an MCP server whose grant permits reading alone may say. */
import { isObject, type JsonObject } from "../rpc/Tool.ts"
import { memberOf } from "./McpResult.ts"

const reading =
  /^(?:initialize|ping|server\/discover|tools\/(?:list|call)|subscriptions\/listen|resources\/.*|prompts\/.*|completion\/complete|logging\/setLevel)$/

/** Whether a request of this method changes nothing; of `tools/call` the tool's annotations say it. */
export const changesNothing = (method: string): boolean => reading.test(method)

const members = new Set(["jsonrpc", "id", "method", "result", "error"])
const callMembers = new Set(["name", "arguments", "inputResponses", "requestState", "_meta"])

const only = (value: JsonObject, names: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)))

/** The message without what a server could read otherwise than this program: members of a name in another case, above all. */
export const plain = (message: JsonObject): JsonObject => {
  const params = memberOf(message, "params")
  const isCall = message["method"] === "tools/call"
  const kept = isCall && isObject(params) ? only(params, callMembers) : params
  return { ...only(message, members), ...(kept === undefined ? {} : { params: kept }) }
}
