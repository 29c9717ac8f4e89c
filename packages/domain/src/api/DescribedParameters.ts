/** What a parameter is, by its name; one name means the same in every route but `id`, which is that of the path before it. */
import { Option, Record as Records } from "effect"
import { isRecord, mapped, type Members } from "./JsonMembers.ts"

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
  figures: "Whether to return only the totals.",
  file: "File name of the badge: its public id followed by `.svg`.",
  grantee: "The subject of the account that has access.",
  holder: "The member's Ed25519 key.",
  host: "The host name.",
  hostname: "The host name.",
  "idempotency-key": "A key chosen by the caller; a request repeated with the same key is processed once.",
  invite: "The token of the claim invite.",
  limit: "Maximum number of entries in the page; if omitted, the whole list is returned.",
  link_id: "The id of the share link.",
  n: "Maximum number of events, from 1 to 1000; the default is 100.",
  net_uuid: "The public id of the network.",
  "x-ct-owner-account": "An identifier of the account that owns the tunnel, the same for all of its tunnels.",
  payment: "The id of the payment intent.",
  proof: "Whether agents of the tunnel must prove their keys.",
  require_login: "Whether visitors of the host must sign in.",
  role: "Return only agents with this role tag.",
  routing_token: "The routing token of the tunnel.",
  since: "Return only entries after this Unix time or sequence number.",
  skill: "Return only agents with this skill.",
  subject: "The subject of the account at the identity provider.",
  target: "Return only entries about this target.",
  token: "The token.",
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

const described = (path: string) => (parameter: Members) => {
  const name = String(parameter["name"])
  const description = name === "id" ? idOf(path) : Option.getOrUndefined(Records.get(byName, name))
  return { ...parameter, description }
}

/**
 * The same OpenAPI document with a sentence at every parameter.
 *
 * @example
 * ```ts
 * import { describeParameters } from "@catenet/domain/api/DescribedParameters"
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
      ...(Array.isArray(parameters) && { parameters: parameters.filter(isRecord).map(described(path)) })
    }))
  )
})
