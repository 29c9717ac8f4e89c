/**
 * Descriptions of operations in the OpenAPI document: who may call one, how it is repeated, and which rules apply
 * beside the schemas.
 */
import { Option, Record, Record as Records } from "effect"
import { errorsIn } from "./DescribedAnswers.ts"
import { isRecord, mapped, type Members } from "./LosslessJson.ts"
import { exactBodyMark } from "./RequestReading.ts"

/** What a parameter is, by its name; one name means the same in every route but `id`, which is that of the path before it. */
const byName: Readonly<Record<string, string>> = {
  account: "The id of the credit account.",
  action: "Return only entries with this action.",
  actor: "Return only entries by this actor.",
  admission_until: "Unix time until which the name may order a certificate.",
  agent: "The agent's Ed25519 key.",
  channel: "The id of the channel.",
  channel_tier: "The tier of the host: edge-terminated (`gelb`) or end-to-end (`gruen`, the default).",
  client_id: "The client id of the service account.",
  cursor: "Start of the page, from the `Link` header of the previous page.",
  edge_id: "The id of the edge.",
  email: "The e-mail address.",
  enforces: "What the agent enforces, names joined by commas.",
  figures: "Whether to return only the totals.",
  file: "File name of the badge: its public id followed by `.svg`.",
  grantee: "The subject of the account that has access.",
  holder: "The member's Ed25519 key.",
  host: "The host name.",
  hostname: "The host name.",
  "idempotency-key": "A key chosen by the caller; a request repeated with the same key is processed once.",
  "if-none-match": "The `ETag` of an earlier response.",
  invite: "The token of the claim invite.",
  limit: "Maximum number of entries in the page; if omitted, the whole list is returned.",
  link_id: "The id of the share link.",
  n: "Maximum number of events, from 1 to 1000; the default is 100.",
  net_uuid: "The public id of the network.",
  "x-ct-owner-account":
    "An identifier of the account that owns the tunnel, the same for all of its tunnels and of its service accounts'.",
  payment: "The id of the payment intent.",
  port: "The protocol and the number of a public port, such as `tcp/20022`.",
  proof: "Whether agents of the tunnel must prove their keys.",
  require_login: "Whether visitors of the host must sign in.",
  role: "Return only agents with this role tag.",
  routing_token: "The routing token of the tunnel.",
  since: "Return only entries after this Unix time or sequence number.",
  skill: "Return only agents with this skill.",
  subject: "The subject of the account at the identity provider.",
  target: "Return only entries about this target.",
  token: "The token.",
  "x-ct-policy-revision": "The revision of the tunnel's policy.",
  "x-ct-routing-token": "The routing token of the tunnel.",
  "x-ct-successor-token": "The routing token that replaces the revoked one.",
  "x-ct-webhook-signature":
    "HMAC-SHA256 of the timestamp, a full stop and the body, keyed with the shared secret, in hex.",
  "x-ct-webhook-timestamp": "Unix time at which the event was signed."
}

/** `/me/tunnels/{id}` is about a tunnel. */
const idOf = (path: string) => {
  const [, family = "entry"] = /([a-z-]+)\/\{id\}/u.exec(path) ?? []
  return `The id of the ${family.replace(/ies$/u, "y").replace(/s$/u, "").replaceAll("-", " ")}.`
}

const parametersDescribed = (path: string) => (parameter: Members) => {
  const name = String(parameter["name"])
  const description = name === "id" ? idOf(path) : Option.getOrUndefined(Records.get(byName, name))
  return { ...parameter, description }
}

/**
 * The same OpenAPI document with a sentence at every parameter.
 *
 * @example
 * ```ts
 * import { describeParameters } from "@catenet/domain/api/DescribedOperations"
 *
 * const { paths } = describeParameters({ paths: { "/me/tunnels/{id}": { get: { parameters: [{ name: "id" }] } } } })
 * if (!JSON.stringify(paths).includes("The id of the tunnel.")) throw new Error("no sentence")
 * ```
 */
export const describeParameters = (spec: Record<string, unknown>): Record<string, unknown> => ({
  ...spec,
  paths: mapped(spec["paths"], (methods, path) =>
    mapped(methods, ({ parameters, ...operation }) => ({
      ...operation,
      ...(Array.isArray(parameters) && { parameters: parameters.filter(isRecord).map(parametersDescribed(path)) })
    }))
  )
})

/** Rules about several members of a request, or about what a text holds, which no schema says. The fuzzer finds one that is missing. */
const signedRecord = (name: string) =>
  `\`${name}\` is a signed record; the schema specifies its length, but not its content.`

const endpointRules: Readonly<Record<string, ReadonlyArray<string>>> = {
  "tunnelControls.setAccess": [
    "Each slot in `slots` must end after it starts.",
    "`time_zone` must be a name of the IANA time zone database, such as `Europe/Berlin`."
  ],
  "tunnelControls.setRules": [
    "Each rule has exactly one member. `allow` contains IPv4 and IPv6 addresses and CIDR ranges with zeros after the prefix.",
    "`basic_auth` must contain `users`; `basic_auth` with `file`, and `mtls`, belong in the file of an agent.",
    "Fields that frame a message or name the visitor cannot be set or removed; `cors` with `credentials` needs named origins.",
    "`require_login` needs a tunnel that requires a login."
  ],
  "invitations.redeem": [signedRecord("invitation")],
  "enrollment.redeemBootstrap": ["`pubkey` and `proof` must both be present or both be absent."]
}

/** The rules of an operation. */
const ruleOf = (operationId: unknown): ReadonlyArray<string> =>
  Option.getOrElse(Records.get(endpointRules, String(operationId)), () => [])

const object = (value: unknown): Members => (isRecord(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** The schemes by which an operation may be called. */
const waysOf = (operation: Members): ReadonlySet<string> =>
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

const namesIn = (operation: Members, place: string) =>
  new Set(
    list(operation["parameters"])
      .map(object)
      .flatMap((each) => (each["in"] === place ? [String(each["name"])] : []))
  )

const has = (operation: Members, status: string) => Option.isSome(Record.get(object(operation["responses"]), status))

/** What readers of requests say of every route: that the schemas were not kept. */
const ofReaders = new Set(["`MalformedRequest`", "`WrongShape`"])

/** What a request is refused for although it has the form that the schemas say. */
const rulesOf = (operation: Members): ReadonlyArray<string> => {
  const responses = object(operation["responses"])
  const rules = [
    ...["400", "422"].flatMap((status) => errorsIn(Option.getOrUndefined(Record.get(responses, status)))),
    ...ruleOf(operation["operationId"])
  ].filter((sentence) => !ofReaders.has(sentence.replace(/:.*$/su, "")))
  return rules.length === 0 ? [] : ["The following rules apply in addition to the schemas.", ...rules]
}

/** The sentences of one operation. */
const describe = (method: string, path: string, operation: Members): string => {
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
