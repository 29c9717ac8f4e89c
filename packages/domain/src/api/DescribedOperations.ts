/** What the document says of an operation, in sentences: who may call it, how it is repeated, what it takes and answers. */
import { Option, Record } from "effect"
import { errorsIn } from "./DescribedAnswers.ts"
import { ruleOf } from "./EndpointRules.ts"
import { isRecord, mapped, type Members } from "./JsonMembers.ts"

type Json = Members
const object = (value: unknown): Json => (isRecord(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The schemes by which an operation may be called. */
const waysOf = (operation: Json): ReadonlySet<string> =>
  new Set(list(operation["security"]).flatMap((way) => Object.keys(object(way))))

const callers = (ways: ReadonlySet<string>, method: string) => {
  if (ways.size === 0) return "Everybody may call it."
  if (ways.has("admin")) return "Operators and edges call it, with the admin token."
  const written = method === "get" ? "" : " A write with the session counts only from a page of the portal."
  if (ways.has("bearer") && ways.has("session"))
    return `An account calls it, with an access token or with the session of the portal.${written}`
  return ways.has("session")
    ? `An account calls it, with the session of the portal.${written}`
    : "An account calls it, with an access token; a service account may, too."
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
  return rules.length === 0 ? [] : ["Beside the schemas these rules hold.", ...rules]
}

/** The sentences of one operation. */
const describe = (method: string, path: string, operation: Json): string => {
  const ways = waysOf(operation)
  const [query, headers] = [namesIn(operation, "query"), namesIn(operation, "header")]
  const body = Object.keys(object(object(operation["requestBody"])["content"]))[0]
  const ofAccount = (ways.has("bearer") || ways.has("session")) && path.includes("{")
  return [
    callers(ways, method),
    body === undefined ? undefined : `It takes ${body}; members that it does not know are ignored.`,
    query.has("cursor")
      ? "It answers a page where a limit is given; the Link header leads to the next one. Without a limit it answers all."
      : undefined,
    headers.has("idempotency-key")
      ? "Repeated with the same Idempotency-Key it is done once, and answers what it answered before."
      : undefined,
    ofAccount && has(operation, "404")
      ? "What belongs to another account is answered as what is not there."
      : undefined,
    has(operation, "429") ? "It is metered: Retry-After says when there is room again." : undefined,
    method === "get" ? "It changes nothing." : undefined,
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
 * if (!JSON.stringify(paths).includes("Everybody may call it. It changes nothing.")) throw new Error("no description")
 * ```
 */
export const describeOperations = (spec: Record<string, unknown>): Record<string, unknown> => ({
  ...spec,
  paths: mapped(spec["paths"], (methods, path) => mapped(methods, described(path)))
})
