/**
 * A control plane with its identity provider, and an edge that serves visitors, all real and in this process; and a person who
 * confirms a code in a browser.
 */
import { makeHome, runAgent, type Agent, type Home } from "@catenet/testing/agent/Agent"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { type Address, Realm, variables } from "@catenet/testing/server/gate/SignInServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { temporaryRoot } from "@catenet/testing/TemporaryRoot"
import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../../src/Ports.ts"
import { type Page, visitor } from "./CookieVisits.ts"

/** The edge's folder, where the control plane reads the root that agents pin. Files that share a process use it in turns. */
const folder = join(temporaryRoot(), `catenet-account-${randomUUID()}`)
const port = () => Effect.runSync(Effect.cached(freePort("127.0.0.1")))
const adminPort = port()
const meshPort = port()
const frontDoorPort = port()
/** The ports that the edge offers to tunnels. */
export const publicPort = port()
export const publicUdpPort = port()

const controlPlane = (realm: typeof Realm.layer, more: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.gen(function* () {
      return TestServer.layer({
        ...(yield* variables),
        KEYCLOAK_PUBLIC_URL: (yield* Realm).origin,
        CT_OIDC_REALM: "demo",
        CT_OIDC_ADMIN_CLIENT_ID: "manager",
        CT_OIDC_ADMIN_CLIENT_SECRET: "manager-secret",
        CT_CP_HOSTNAME_ZONE: "zone.test",
        CT_CP_MESH_EDGE_PORT: String(yield* meshPort),
        CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${yield* frontDoorPort}`,
        CT_CP_EDGE_CERT_PATH: join(folder, "edge-cert.der"),
        CT_CP_EDGE_ADMIN_URL: `http://127.0.0.1:${yield* adminPort}`,
        ...more
      })
    })
  ).pipe(Layer.provideMerge(realm))

const edge = Effect.gen(function* () {
  const variables = {
    CT_EDGE_CP_URL: yield* TestServer.baseUrl,
    CT_EDGE_ADMIN_LISTEN: `127.0.0.1:${yield* adminPort}`,
    CT_EDGE_LISTEN: `127.0.0.1:${yield* meshPort}`,
    CT_FRONT_DOOR: `127.0.0.1:${yield* frontDoorPort}`,
    CT_EDGE_QUIC: "off",
    CT_EDGE_PORTS: String(yield* publicPort),
    CT_EDGE_UDP_PORTS: String(yield* publicUdpPort),
    CT_EDGE_ID: "primary"
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => mkdirSync(folder)),
    () => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  return yield* start(variables, { folder })
})

export class AccountEdge extends Context.Service<AccountEdge, TestEdge>()("test/AccountEdge") {
  static readonly layer = Layer.effect(AccountEdge, edge)
}

/** With another provider, and the variables that it needs. */
export const stackWith = (realm: typeof Realm.layer, more: Readonly<Record<string, string>>) =>
  AccountEdge.layer.pipe(Layer.provideMerge(controlPlane(realm, more)))

export const stack = stackWith(Realm.layer, {})

/** An empty folder, which is also the home of its programs. */
export const home = Effect.acquireRelease(Effect.promise(makeHome), (made) =>
  Effect.promise(() => made[Symbol.asyncDispose]())
)

/** A program that ends with the scope. */
export const running = (at: Home, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync((): Agent => runAgent(at, env, args)),
    (agent) => Effect.promise(() => agent[Symbol.asyncDispose]())
  )

/** A program to its end. */
export const ended = (at: Home, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const agent = yield* running(at, args, env)
    const code = yield* Effect.promise(() => agent.exited)
    return { code, stdout: agent.stdout(), stderr: agent.lines.join("\n") }
  }).pipe(Effect.scoped)

/** The access token of a stored login. */
export const tokenIn = (path: string) =>
  String(JSON.parse(readFileSync(join(path, ".ct-agent", "oidc-token.json"), "utf8"))["access_token"])

/** Confirms the code behind this address, signed in as this person. */
export const confirm = async (address: string, username: Address) => {
  const visit = visitor()
  const submit = ({ text, url }: Page, more: Record<string, string>) => {
    const fields = [...text.matchAll(/name="([a-z_]+)" value="([^"]*)"/gu)].map(([, name = "", value = ""]) => [
      name,
      value
    ])
    const action = new URL(/action="([^"]+)"/.exec(text)?.[1] ?? "", url).href
    return visit(action, { ...Object.fromEntries(fields), ...more })
  }
  const code = new URL(address).searchParams.get("user_code") ?? assert.fail("an address without a code")
  const asked = await submit(await visit(address), { user_code: code })
  const agreed = /confirm/u.test(asked.text) ? await submit(asked, { user_code: code, confirm: "yes" }) : asked
  const done = await submit(agreed, { username, password: "correct horse" })
  assert.include(done.text, "Device connected")
}

/** Logs this home in, from the code to the stored login. */
export const login = (at: Home, person: Address, args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const agent = yield* running(at, ["login", ...args], env)
    const line = yield* Effect.promise(() => agent.said("or open "))
    yield* Effect.promise(() => confirm(line.split("or open ")[1] ?? "", person))
    assert.strictEqual(yield* Effect.promise(() => agent.exited), 0, agent.lines.join("\n"))
    return agent
  }).pipe(Effect.scoped)
