/** A gated tunnel whose agent, the real program, ends TLS with a certificate of its own; its name turns end-to-end when it is told to. */
import * as AgentRequest from "@catenet/crypto/AgentRequest"
import { native } from "@catenet/crypto/native"
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Email } from "@catenet/domain/values/Email"
import { Hostname } from "@catenet/domain/values/Hostname"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { registered } from "@catenet/testing/agent/Surroundings"
import { mintPair, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { eventually, until } from "@catenet/testing/Eventually"
import { account } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert } from "@effect/vitest"
import { Clock, Effect, Redacted, Schema } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ask, browser, Edges } from "./GateStack.ts"

const email = Schema.decodeSync(Email)
const hostFrom = Schema.decodeSync(Hostname)
const nameFrom = Schema.decodeSync(TunnelName)
const olga = "olga@example.test"

/** A gated tunnel of Olga's whose agent ends TLS with a certificate of its own, still edge-terminated. */
export const tunnel = Effect.fn("tunnel")(function* (host: string, change: Partial<TunnelChange> = {}) {
  const { first, origin } = yield* Edges
  const { tunnelControls, tunnels } = yield* account(olga)
  const { id } = yield* tunnels.create({ headers: {}, payload: { name: nameFrom("own"), hostname: hostFrom(host) } })
  const params = { id }
  const switched = (more: Partial<TunnelChange>) => tunnels.change({ params, payload: new TunnelChange(more) })
  yield* switched({ require_login: true, ...change })
  const made = yield* tunnels.install({ headers: {}, params })
  const token = Redacted.value(made.routing_token)
  const isAuthorized = async () =>
    JSON.stringify((await first.admin("GET", "/admin/host-auth-dump")).body).includes(`"${host}"`)
  yield* Effect.promise(() => eventually(isAuthorized, `the authorization of ${host}`))
  const pair = mintPair([host])
  const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (made) =>
    Effect.promise(() => made[Symbol.asyncDispose]())
  )
  const file = (name: string, content: string | Uint8Array) => {
    writeFileSync(join(home.path, name), content)
    return join(home.path, name)
  }
  const url = yield* TestServer.baseUrl
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() =>
      runAgent(home, {
        CT_AGENT_CP_URL: url,
        CT_AGENT_TOKEN: token,
        CT_AGENT_JOIN_TOKEN: Redacted.value(made.join_token),
        CT_AGENT_ID: made.agent_id,
        CT_AGENT_HOSTNAME: host,
        CT_AGENT_MODE: "browser",
        CT_AGENT_TRANSPORTS: "mux",
        CT_AGENT_STATE_DIR: home.path,
        CT_AGENT_EDGE: `localhost:${first.mesh}`,
        CT_AGENT_EDGE_CERT: file("edge.der", new X509Certificate(first.meshRoot).raw),
        CT_AGENT_ORIGIN: `127.0.0.1:${origin.port}`,
        CT_AGENT_ORIGIN_TLS: "terminate",
        CT_AGENT_TLS_CERT: file("chain.pem", pair.cert),
        CT_AGENT_TLS_KEY: file("key.pem", pair.key)
      })
    ),
    (running) => Effect.promise(() => running[Symbol.asyncDispose]())
  )
  yield* Effect.promise(() => registered(agent))

  const seed = () => Redacted.make(new Uint8Array(readFileSync(join(home.path, "identity.key"))))
  /** The agent says that it has its certificate. Answers the status. */
  const complete = Effect.gen(function* () {
    const path = `/agent/acme-issuance-complete/${token}/${host}`
    const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000))
    const proof = AgentRequest.sign(native, seed(), { method: "POST", path, body: new Uint8Array() }, now)
    const response = yield* TestServer.raw(path, { method: "POST", headers: { [AgentRequest.header]: proof } })
    return response.status
  })
  /** The edge as a visitor sees it who trusts the certificate of the host. */
  const own: TestEdge = { ...first, wildcardRoot: pair.root }
  return { host, token, agent, params, tunnels, tunnelControls, switched, complete, own, seed }
})

/** The status of a visit, 0 for one that is closed. */
export const statusAt = (at: TestEdge, host: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.promise(() =>
    ask(at, `https://${host}/`, headers).then(
      ({ status }) => status,
      () => 0
    )
  )

/** The same, after its name has turned end-to-end. */
export const ownTunnel = Effect.fn("ownTunnel")(function* (host: string, change: Partial<TunnelChange> = {}) {
  const made = yield* tunnel(host, change)
  yield* until(made.complete, (status) => status === 200, "100 millis")
  yield* until(statusAt(made.own, host), (status) => status !== 0)
  return made
})

/** A browser that has signed in at the host. */
export const signedIn = Effect.fn("signedIn")(function* (at: TestEdge, host: string) {
  const self = browser(() => at)
  const seen = yield* self.visit(`https://${host}/`, "vera@example.test")
  assert.deepStrictEqual([seen.status, seen.text], [200, "the origin"])
  return { ...self, cookie: self.cookies(host) }
})

export const vera = { email: email("vera@example.test") }
