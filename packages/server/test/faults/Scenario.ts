/** A day in the life of a deployment: everything that can be made, changed and taken away, one request after the other. */
import * as Proof from "@catenet/crypto/Enrollment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import {
  grantBy,
  idOf,
  invitationBy,
  keyOf,
  linkOf,
  materialOf,
  redemptionOf,
  seedOf
} from "@catenet/testing/server/channels/ChannelsKeys"
import { Effect, Redacted } from "effect"
import { bytesOf } from "../../src/runtime/TokenSecrets.ts"
import { signed } from "../billing/Customers.ts"
import type { As, Client } from "./Client.ts"

/** Whose day it is. Everything that is chosen carries the word: hostnames, names, keys, addresses. */
export interface Party {
  readonly owner: string
  readonly word: string
}

/** The e-mail address of a party's guest. */
export const guestOf = (word: string) => `guest@${word}.example`

/** Plays it from the beginning to the end. What a party was given by chance gets a name in `names`. */
export const play = ({ ask }: Client, { owner, word }: Party, names: Map<string, string>) =>
  Effect.gen(function* () {
    const of = (what: string) => `${word} ${what}`
    const key = (what: string) => keyOf(of(what))
    const hostOf = (label: string) => `${word}-${label}.zone.example`
    const guestEmail = guestOf(word)
    const named = (name: string, value: string) => {
      names.set(value, `<${name}>`)
      return value
    }
    const post = (as: As, path: string, body?: unknown, more: { key?: string; again?: number } = {}) =>
      ask({ as, method: "POST", path, ...(body === undefined ? {} : { body }), ...more })
    const put = (path: string, body: unknown) => ask({ as: "owner", method: "PUT", path, body })
    const drop = (path: string, body?: unknown) =>
      ask({ as: "owner", method: "DELETE", path, again: 404, ...(body === undefined ? {} : { body }) })
    named("owner", owner)

    // Agents enroll.
    const { token } = yield* post("operator", "/enroll/issue", { tenant: of("lab") }, { key: of("join") })
    const pubkey = key("laptop")
    const proof = Hex.encode(Proof.prove(native, seedOf(of("laptop")), Redacted.make(bytesOf(token))))
    yield* post("anonymous", "/enroll/redeem", { token, agent: `${word}-laptop`, pubkey, proof }, { again: 409 })
    yield* post("operator", "/enroll/issue-batch", { tenant: of("lab"), count: 3 }, { key: of("batch") })
    const minted = yield* post("operator", "/bootstrap/mint", { secret: "CT_X=1" }, { key: of("bootstrap") })
    yield* post("anonymous", "/bootstrap/redeem", { token: minted.token }, { again: 410 })

    // Tunnels, by an operator and by their owner.
    const provisioned = yield* post(
      "operator",
      "/admin/provision-tunnel",
      { subject: owner, name: of("given"), hostname: hostOf("given") },
      { key: of("given") }
    )
    named("given token", provisioned.routing_token)
    const tunnels: Array<string> = []
    for (const name of ["cam", "wiki", "gone"]) {
      const body = { name: of(name), hostname: hostOf(name) }
      tunnels.push(named(name, (yield* post("owner", "/me/tunnels", body, { key: name })).id))
    }
    const [cam, wiki, gone] = tunnels.map((id) => `/me/tunnels/${id}`)
    yield* ask({ as: "owner", method: "PATCH", path: `${cam}`, body: { name: of("camera"), require_login: true } })
    yield* post("owner", `${cam}/grants`, { grantee: of("friend") })
    yield* post("owner", `${wiki}/grants`, { grantee: `${word}-stranger` })
    yield* drop(`${wiki}/grants/${word}-stranger`)
    yield* post("owner", `${cam}/login-allowlist`, { email: `a@${word}.example` })
    yield* put(`${cam}/access`, { expires_at: 4_000_000_000, schedule: null })
    yield* put(`${wiki}/access`, { expires_at: 3_999_999_999, schedule: null })
    yield* ask({ as: "owner", method: "DELETE", path: `${wiki}/access` })
    const link = yield* post("owner", `${cam}/share-links`, { ttl: "7d", label: of("kept") }, { key: "link" })
    named("kept link", link.id)
    const spent = yield* post("owner", `${cam}/share-links`, { ttl: "1h" }, { key: "spent" })
    yield* post("owner", `${cam}/share-links/${named("spent link", spent.id)}/revoke`, undefined, { again: 404 })
    yield* put(`${cam}/alert`, { webhook_url: `https://${word}.example/x`, threshold_minutes: 5 })
    yield* put(`${wiki}/alert`, { webhook_url: `https://${word}.example/y`, threshold_minutes: 5 })
    yield* drop(`${wiki}/alert`)
    named("badge", (yield* post("owner", `${cam}/badge`)).public_id)
    yield* post("owner", `${wiki}/badge`)
    yield* ask({ as: "owner", method: "DELETE", path: `${wiki}/badge` })
    yield* drop(`${gone}`)

    // Service accounts, which live at the provider too.
    for (const name of ["build", "deploy", "old"]) {
      const made = yield* post("owner", "/me/service-accounts", { name: of(name) }, { key: name })
      const path = `/me/service-accounts/${named(`${name} client`, made.client_id)}`
      if (name === "deploy") yield* post("owner", `${path}/rotate`)
      if (name === "old") yield* drop(path)
    }

    // Channels.
    const [hall, attic] = [idOf(of("hall")), idOf(of("attic"))]
    for (const channel of [hall, attic]) yield* post("owner", "/me/channels", { channel, operator_pubkey: key("host") })
    for (const member of ["one", "two"])
      yield* post("owner", `/me/channels/${hall}/members`, materialOf(hall, of(member)))
    yield* post("owner", `/me/channels/${hall}/grants/${key("one")}`, { grant: grantBy(of("host"), hall, of("one")) })
    yield* post("owner", `/me/channels/${hall}/members/${key("two")}/remove`)
    yield* post("owner", `/me/channels/${hall}/allowlist`, { email: guestEmail })
    yield* post("guest", `/portal/channels/${hall}/claim`, materialOf(hall, of("guest's laptop")))
    const invite = yield* post("owner", `/me/channels/${hall}/claim-invites`, materialOf(hall, of("phone")), {
      key: "i"
    })
    yield* post("guest", "/portal/claims/confirm", { invite: invite.invite }, { again: 410 })
    const open = yield* post("owner", `/me/channels/${hall}/claim-invites`, materialOf(hall, of("watch")), { key: "o" })
    named("open invite", open.invite)
    const parties = { channel: hall, invitee: of("far"), holder: of("far's laptop") }
    const redemption = redemptionOf(invitationBy(of("host"), hall, of("far")), parties)
    yield* post("anonymous", "/channel/invite/redeem", redemption, { again: 409 })
    yield* ask({ as: "owner", method: "DELETE", path: `/me/channels/${attic}`, again: 403 })
    yield* post("owner", "/me/rooms", { operator_pubkey: key("host"), holders: ["p", "q", "r"].map(key) })

    // Topologies.
    const nets: Array<string> = []
    for (const name of ["net", "lost net"]) {
      const { id, net_uuid } = yield* post("owner", "/me/topologies", undefined, { key: name })
      named(`${name} page`, net_uuid)
      nets.push(named(name, id))
    }
    const [net, lost] = nets.map((id) => `/me/topologies/${id}`)
    for (const agent of ["p", "q", "r"]) yield* post("owner", `${net}/agents`, { agent: key(agent) }, { again: 409 })
    yield* drop(`${net}/agents/${key("r")}`)
    yield* put(`${net}/agents/${key("p")}/label`, { label: of("kitchen") })
    const ends = { a: key("p"), b: key("q") }
    yield* post("owner", `${net}/edges`, ends, { again: 409 })
    yield* put(`${net}/edges/channel`, { ...ends, channel: linkOf(of("host"), of("p"), of("q")) })
    yield* put(`${net}/mode`, { mode: "smart-route" })
    const binding = Hex.encode(OperatorBinding.sign(native, seedOf(of("host")), { topologyId: nets[0] ?? "" }))
    yield* put(`${net}/operator`, { operator_pubkey: key("host"), proof: binding })
    for (const email of [guestEmail, `b@${word}.example`]) yield* post("owner", `${net}/share`, { email })
    yield* post("owner", `${net}/share/b@${word}.example/remove`, undefined, { again: 404 })
    yield* post("owner", `${lost}/agents`, { agent: key("s") }, { again: 409 })
    yield* drop(`${lost}`)

    // Credits.
    const { account } = yield* ask({ as: "owner", method: "GET", path: "/me/account" })
    named("account", account)
    const { payment } = yield* post("owner", "/me/account/credits", { credits: 10 }, { key: "buy" })
    const notice = JSON.stringify({ payment: named("payment", payment), status: "succeeded" })
    for (let n = 0; n < 2; n++)
      yield* ask({ as: "anonymous", method: "POST", path: "/payment/webhook", body: notice, headers: signed(notice) })
    for (const purchase of ["first", "second"])
      named(`${purchase} token`, (yield* post("owner", "/me/issue", { price: 3 }, { key: purchase })).token)
    const opened = yield* post("operator", "/accounts/open", undefined, { key: of("open") })
    const intent = { account: named("opened account", opened.account), credits: 5 }
    named("intent", (yield* post("operator", "/payment/intent", intent, { key: of("intent") })).payment)

    // Registries, limits and edges.
    const role = { service: "TextGeneration", units: 1, tag: "t" }
    for (const id of ["line", "short"])
      yield* post("owner", "/me/pipelines", { spec: { id: `${word}.${id}`, roles: [role] } })
    yield* drop(`/me/pipelines/${word}.short`)
    yield* post("operator", "/registry/agents", { holder_pubkey: key("p"), card_url: `https://${word}.example/p.json` })
    yield* post("operator", `/admin/accounts/${owner}/max-tunnels`, { max: 20 })
    yield* post("operator", "/internal/edges/heartbeat", { id: "primary", peer_addr: "edge.example:4433" })
    yield* post("operator", `/registry/authorize-host/${provisioned.routing_token}/${hostOf("more")}`)
  })
