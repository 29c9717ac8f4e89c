/** What the document says of an operation, in sentences: who may call it, how it is repeated, what it takes and answers. */
import { Option, Record } from "effect"
import { errorsIn } from "./DescribedAnswers.ts"
import { ruleOf } from "./EndpointRules.ts"
import { isRecord, mapped, type Members } from "./JsonMembers.ts"
import { exactBodyMark } from "./RequestReading.ts"

type Json = Members
const object = (value: unknown): Json => (isRecord(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The schemes by which an operation may be called. */
const waysOf = (operation: Json): ReadonlySet<string> =>
  new Set(list(operation["security"]).flatMap((way) => Object.keys(object(way))))

const callers = (ways: ReadonlySet<string>, method: string) => {
  if (ways.size === 0) return "Requires no authentication."
  if (ways.has("admin")) return "For operators and edges; requires the admin token."
  const written = method === "get" ? "" : " With a session, writes are accepted only from the portal's own origin."
  if (ways.has("bearer") && ways.has("session")) return `Requires an access token or a portal session.${written}`
  return ways.has("session")
    ? `Requires a portal session.${written}`
    : "Requires an access token of an account or a service account."
}

const namesIn = (operation: Json, place: string) =>
  new Set(
    list(operation["parameters"])
      .map(object)
      .flatMap((each) => (each["in"] === place ? [String(each["name"])] : []))
  )

const has = (operation: Json, status: string) => Option.isSome(Record.get(object(operation["responses"]), status))

/** What readers of requests say of every route: that the schemas were not kept. */
const ofReaders = new Set(["`MalformedRequest`", "`WrongShape`"])

/** What a request is refused for although it has the form that the schemas say. */
const rulesOf = (operation: Json): ReadonlyArray<string> => {
  const responses = object(operation["responses"])
  const rules = [
    ...["400", "422"].flatMap((status) => errorsIn(Option.getOrUndefined(Record.get(responses, status)))),
    ...ruleOf(operation["operationId"])
  ].filter((sentence) => !ofReaders.has(sentence.replace(/:.*$/su, "")))
  return rules.length === 0 ? [] : ["The following rules apply in addition to the schemas.", ...rules]
}

/** The sentences of one operation. */
const describe = (method: string, path: string, operation: Json): string => {
  const ways = waysOf(operation)
  const [query, headers] = [namesIn(operation, "query"), namesIn(operation, "header")]
  const body = Object.keys(object(object(operation["requestBody"])["content"]))[0]
  const ofAccount = (ways.has("bearer") || ways.has("session")) && path.includes("{")
  return [
    callers(ways, method),
    body === undefined
      ? undefined
      : `Accepts ${body}; unknown members are ${operation[exactBodyMark] === true ? "refused" : "ignored"}.`,
    query.has("cursor")
      ? "With `limit`, returns one page, and the Link header has the address of the next. Without it, returns the whole list."
      : undefined,
    headers.has("idempotency-key")
      ? "Repeating the request with the same Idempotency-Key returns the first response and changes nothing."
      : undefined,
    ofAccount && has(operation, "404") ? "Returns 404 for resources of other accounts." : undefined,
    has(operation, "429") ? "Rate-limited: Retry-After has the number of seconds to wait." : undefined,
    method === "get" ? "Changes nothing." : undefined,
    ...rulesOf(operation)
  ]
    .filter((sentence) => sentence !== undefined)
    .join(" ")
}

const described = (path: string) => (operation: Members, method: string) =>
  typeof operation["operationId"] === "string"
    ? { ...operation, description: describe(method, path, operation) }
    : operation

/**
 * The same OpenAPI document with a description at every operation.
 *
 * @example
 * ```ts
 * import { describeOperations } from "@catenet/domain/api/DescribedOperations"
 *
 * const { paths } = describeOperations({ paths: { "/a": { get: { operationId: "a.b" } } } })
 * if (!JSON.stringify(paths).includes("Requires no authentication. Changes nothing.")) throw new Error("no description")
 * ```
 */
export const describeOperations = (spec: Record<string, unknown>): Record<string, unknown> => ({
  ...spec,
  paths: mapped(spec["paths"], (methods, path) => mapped(methods, described(path)))
})
