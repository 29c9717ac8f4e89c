/** What a parameter is, by its name; one name means the same in every route but `id`, which is that of the path before it. */
import { Option, Record as Records } from "effect"
import { isRecord, mapped, type Members } from "./JsonMembers.ts"

const byName: Readonly<Record<string, string>> = {
  account: "The id of the credit account.",
  action: "Only entries of this action.",
  actor: "Only entries of this actor.",
  admission_until: "The second until which the name may order a certificate.",
  agent: "The agent's Ed25519 key.",
  channel: "The id of the channel.",
  channel_tier: "The tier of the host; `gruen` without it.",
  client_id: "The client id of the service account.",
  cursor: "Where the page begins, from the `Link` header of the page before.",
  edge_id: "The id of the edge.",
  email: "The e-mail address.",
  figures: "Whether the answer has the sums alone.",
  file: "The name of the badge's file, its public id with `.svg`.",
  grantee: "The subject of the account that has access.",
  holder: "The member's Ed25519 key.",
  host: "The host name.",
  hostname: "The host name.",
  "idempotency-key": "A text of the caller's own; the same request with the same text is done once.",
  invite: "The token of the claim invite.",
  limit: "The most entries of the page; without it the list is whole.",
  link_id: "The id of the share link.",
  n: "The most events, from 1 to 1000; 100 without it.",
  net_uuid: "The public id of the network.",
  "x-ct-owner-account": "A name of the account that the tunnel belongs to, the same for all of its tunnels.",
  payment: "The id of the payment intent.",
  proof: "Whether agents of the tunnel have to prove their keys.",
  require_login: "Whether visitors of the host have to sign in.",
  role: "Only agents with this role tag.",
  routing_token: "The routing token of the tunnel.",
  since: "Only what is newer than this second, or has a higher number.",
  skill: "Only agents with this skill.",
  subject: "The subject of the account, as the identity provider names it.",
  target: "Only entries about this target.",
  token: "The token.",
  "x-ct-routing-token": "The routing token of the tunnel.",
  "x-ct-successor-token": "The routing token that takes the place of the revoked one.",
  "x-ct-webhook-signature": "The HMAC-SHA256 of timestamp, full stop and body under the shared secret, in hex.",
  "x-ct-webhook-timestamp": "The second at which the event was signed."
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
