/** A day in the life of a deployment: everything that can be made, changed and taken away, one request after the other. */
import * as Proof from "@catenet/crypto/Enrolment"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as OperatorBinding from "@catenet/crypto/OperatorBinding"
import { Effect, Redacted } from "effect"
import { bytesOf } from "../../src/Secrets.ts"
import { grantBy, idOf, invitationBy, keyOf, linkOf, materialOf, redemptionOf, seedOf } from "../channels/Keys.ts"
import { signed } from "../credits/Customers.ts"
import type { As, Client } from "./Client.ts"

export const guestEmail = "guest@people.example"

/** Plays it from the beginning to the end. What it was given by chance gets a name in `names`. */
export const play = ({ ask }: Client, owner: string, names: Map<string, string>) =>
  Effect.gen(function* () {
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

    // Agents enrol.
    const { token } = yield* post("operator", "/enroll/issue", { tenant: "lab" }, { key: "join" })
    const pubkey = keyOf("laptop")
    const proof = Hex.encode(Proof.prove(native, seedOf("laptop"), Redacted.make(bytesOf(token))))
    yield* post("nobody", "/enroll/redeem", { token, agent: "laptop", pubkey, proof }, { again: 409 })
    yield* post("operator", "/enroll/issue-batch", { tenant: "lab", count: 3 }, { key: "batch" })
    const minted = yield* post("operator", "/bootstrap/mint", { secret: "CT_X=1" }, { key: "bootstrap" })
    yield* post("nobody", "/bootstrap/redeem", { token: minted.token }, { again: 410 })

    // Tunnels, by an operator and by their owner.
    const provisioned = yield* post(
      "operator",
      "/admin/provision-tunnel",
      { subject: owner, name: "given", hostname: "given.zone.example" },
      { key: "given" }
    )
    named("given token", provisioned.routing_token)
    const tunnels: Array<string> = []
    for (const name of ["cam", "wiki", "gone"]) {
      const body = { name, hostname: `${name}.zone.example` }
      tunnels.push(named(name, (yield* post("owner", "/me/tunnels", body, { key: name })).id))
    }
    const [cam, wiki, gone] = tunnels.map((id) => `/me/tunnels/${id}`)
    yield* ask({ as: "owner", method: "PATCH", path: `${cam}`, body: { name: "camera", require_login: true } })
    yield* post("owner", `${cam}/grants`, { grantee: "friend" })
    yield* post("owner", `${wiki}/grants`, { grantee: "stranger" })
    yield* drop(`${wiki}/grants/stranger`)
    yield* post("owner", `${cam}/login-allowlist`, { email: "a@people.example" })
    yield* put(`${cam}/access`, { expires_at: 4_000_000_000, schedule: null })
    yield* put(`${wiki}/access`, { expires_at: 3_999_999_999, schedule: null })
    yield* ask({ as: "owner", method: "DELETE", path: `${wiki}/access` })
    const link = yield* post("owner", `${cam}/share-links`, { ttl: "7d", label: "kept" }, { key: "link" })
    named("kept link", link.id)
    const spent = yield* post("owner", `${cam}/share-links`, { ttl: "1h" }, { key: "spent" })
    yield* post("owner", `${cam}/share-links/${named("spent link", spent.id)}/revoke`, undefined, { again: 404 })
    yield* put(`${cam}/alert`, { webhook_url: "https://hooks.example/x", threshold_minutes: 5 })
    yield* put(`${wiki}/alert`, { webhook_url: "https://hooks.example/y", threshold_minutes: 5 })
    yield* drop(`${wiki}/alert`)
    yield* post("owner", `${cam}/badge`)
    yield* post("owner", `${wiki}/badge`)
    yield* ask({ as: "owner", method: "DELETE", path: `${wiki}/badge` })
    yield* drop(`${gone}`)

    // Service accounts, which live at the provider too.
    for (const name of ["build", "deploy", "old"]) {
      const made = yield* post("owner", "/me/service-accounts", { name }, { key: name })
      const path = `/me/service-accounts/${named(`${name} client`, made.client_id)}`
      if (name === "deploy") yield* post("owner", `${path}/rotate`)
      if (name === "old") yield* drop(path)
    }

    // Channels.
    const [hall, attic] = [idOf("hall"), idOf("attic")]
    for (const channel of [hall, attic])
      yield* post("owner", "/me/channels", { channel, operator_pubkey: keyOf("host") })
    for (const word of ["one", "two"]) yield* post("owner", `/me/channels/${hall}/members`, materialOf(hall, word))
    yield* post("owner", `/me/channels/${hall}/grants/${keyOf("one")}`, { grant: grantBy("host", hall, "one") })
    yield* post("owner", `/me/channels/${hall}/members/${keyOf("two")}/remove`)
    yield* post("owner", `/me/channels/${hall}/allowlist`, { email: guestEmail })
    yield* post("guest", `/portal/channels/${hall}/claim`, materialOf(hall, "guest's laptop"))
    const invite = yield* post("owner", `/me/channels/${hall}/claim-invites`, materialOf(hall, "phone"), { key: "i" })
    yield* post("guest", "/portal/claims/confirm", { invite: invite.invite }, { again: 410 })
    const parties = { channel: hall, invitee: "far", holder: "far's laptop" }
    const redemption = redemptionOf(invitationBy("host", hall, "far"), parties)
    yield* post("nobody", "/channel/invite/redeem", redemption, { again: 409 })
    yield* ask({ as: "owner", method: "DELETE", path: `/me/channels/${attic}`, again: 403 })
    yield* post("owner", "/me/rooms", { operator_pubkey: keyOf("host"), holders: ["p", "q", "r"].map(keyOf) })

    // Topologies.
    const nets: Array<string> = []
    for (const name of ["net", "lost net"]) {
      const { id, net_uuid } = yield* post("owner", "/me/topologies", undefined, { key: name })
      named(`${name} page`, net_uuid)
      nets.push(named(name, id))
    }
    const [net, lost] = nets.map((id) => `/me/topologies/${id}`)
    for (const word of ["p", "q", "r"]) yield* post("owner", `${net}/agents`, { agent: keyOf(word) }, { again: 409 })
    yield* drop(`${net}/agents/${keyOf("r")}`)
    yield* put(`${net}/agents/${keyOf("p")}/label`, { label: "kitchen" })
    const ends = { a: keyOf("p"), b: keyOf("q") }
    yield* post("owner", `${net}/edges`, ends, { again: 409 })
    yield* put(`${net}/edges/channel`, { ...ends, channel: linkOf("host", "p", "q") })
    yield* put(`${net}/mode`, { mode: "smart-route" })
    const binding = Hex.encode(OperatorBinding.sign(native, seedOf("host"), nets[0] ?? ""))
    yield* put(`${net}/operator`, { operator_pubkey: keyOf("host"), proof: binding })
    for (const email of [guestEmail, "b@people.example"]) yield* post("owner", `${net}/share`, { email })
    yield* post("owner", `${net}/share/b@people.example/remove`, undefined, { again: 404 })
    yield* post("owner", `${lost}/agents`, { agent: keyOf("s") }, { again: 409 })
    yield* drop(`${lost}`)

    // Credits.
    const { account } = yield* ask({ as: "owner", method: "GET", path: "/me/account" })
    named("account", account)
    const { payment } = yield* post("owner", "/me/account/credits", { credits: 10 }, { key: "buy" })
    const notice = JSON.stringify({ payment: named("payment", payment), status: "succeeded" })
    for (let n = 0; n < 2; n++)
      yield* ask({ as: "nobody", method: "POST", path: "/payment/webhook", body: notice, headers: signed(notice) })
    for (const key of ["first", "second"])
      named(`${key} token`, (yield* post("owner", "/me/issue", { price: 3 }, { key })).token)
    const opened = yield* post("operator", "/accounts/open", undefined, { key: "open" })
    const intent = { account: named("opened account", opened.account), credits: 5 }
    named("intent", (yield* post("operator", "/payment/intent", intent, { key: "intent" })).payment)

    // Registries, limits and edges.
    const role = { service: "TextGeneration", units: 1, tag: "t" }
    for (const id of ["line", "short"]) yield* post("owner", "/me/pipelines", { spec: { id, roles: [role] } })
    yield* drop("/me/pipelines/short")
    yield* post("operator", "/registry/agents", { holder_pubkey: keyOf("p"), card_url: "https://card.example/p.json" })
    yield* post("operator", `/admin/accounts/${owner}/max-tunnels`, { max: 20 })
    yield* post("operator", "/internal/edges/heartbeat", { id: "primary", peer_addr: "edge.example:4433" })
    yield* post("operator", `/registry/authorize-host/${provisioned.routing_token}/more.zone.example`)
  })
