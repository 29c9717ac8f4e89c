/**
 * The bridge tools of a serving member, as the bridge peer and as others call them.
 * One file, since all cases call one serving member, which is started once.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { type Home, makeHome } from "@catenet/testing/agent/Agent"
import { makeChannel } from "@catenet/testing/agent/Member"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, type FileSystem, Layer, Logger, Result } from "effect"
import { once } from "node:events"
import { readFile, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as BridgeTools from "../../src/channel/bridge/BridgeTools.ts"
import * as RpcDispatch from "../../src/channel/rpc/RpcDispatch.ts"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import { Events } from "../../src/observe/Events.ts"
import * as MemberSettings from "../../src/settings/MemberSettings.ts"

const channel = makeChannel()
const server = channel.member("accept")
const peer = new Uint8Array(32).fill(7)
const stranger = new Uint8Array(32).fill(8)

const names = [
  "bridge/allowlist-add",
  "bridge/allowlist-list",
  "bridge/allowlist-remove",
  "bridge/channel-members",
  "bridge/config",
  "bridge/manifest-install",
  "bridge/manifest-list",
  "bridge/status"
]

interface Asked {
  readonly line: string
  readonly authorization: string | undefined
  readonly body: string
}

let home: Home
let http: Server
const asked: Array<Asked> = []
/** What the control plane and the registry answer, by the end of the path. */
const answers: Record<string, readonly [status: number, body: string]> = {
  "/members": [200, `{"members":[{"holder":"aa","noise_pubkey":null}]}`],
  "/allowlist": [200, `{"emails":["ada@example.test"]}`],
  "/remove": [200, ""],
  "/manifests": [200, `[{"manifest_id":"ab/c"},{"manifest_id":"d","manifest_url":"https://x.test/d"},7]`]
}
const bodyOf = async (request: IncomingMessage) => {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk)
  return text
}

beforeAll(async () => {
  home = await makeHome()
  http = createServer(async (request, response) => {
    const { headers, method, url = "" } = request
    asked.push({ line: `${method} ${url}`, authorization: headers.authorization, body: await bodyOf(request) })
    const [status, body] = Object.entries(answers).find(([end]) => url.endsWith(end))?.[1] ?? [404, "{}"]
    response.writeHead(status, { "content-type": "application/json" }).end(body)
  })
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
})
afterAll(async () => {
  http.close()
  await home[Symbol.asyncDispose]()
})

const url = () => `http://127.0.0.1:${(http.address() as AddressInfo).port}`

const environment = (): { [name: string]: string } => ({
  ...server.env,
  CT_CHANNEL_BROKER: "edge.example.net:4435",
  CT_CHANNEL_RELAY: "edge.example.net:4436",
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_SERVE: "1",
  CT_CHANNEL_BRIDGE_PEER: Hex.encode(peer),
  CT_AGENT_CP_URL: url(),
  CT_MANIFEST_REGISTRY_URL: `${url()}/`,
  CT_OIDC_TOKEN: "the-bearer",
  CT_CHANNEL_OPERATOR_KEY: Hex.encode(channel.operatorSeed)
})

const unset = (name: string) => Object.fromEntries(Object.entries(environment()).filter(([each]) => each !== name))

const settingsOf = (env: Readonly<Record<string, string>>) =>
  MemberSettings.read(undefined).pipe(
    Effect.provideService(
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromUnknown(env, { preserveEmptyStrings: true })
    )
  )

const layer = () =>
  Events.layer(home.path).pipe(
    Layer.provideMerge(Layer.mergeAll(AgentMetrics.layer, NodeFileSystem.layer, Logger.layer([])))
  )

/** The response to a request of this caller, at a member with these variables. */
const ask = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>,
  noiseKey: Uint8Array,
  method: string,
  params?: Json.Json
) {
  const tools = yield* BridgeTools.make(yield* settingsOf(env))
  const request = Envelope.readRequest(new TextEncoder().encode(Envelope.request(1n, method, params)))
  return JSON.parse(
    new TextDecoder().decode(yield* RpcDispatch.respond(request, tools, { noiseKey, rights: "rw" }))
  ) as {
    readonly result?: any
    readonly error?: { readonly code: number; readonly message: string }
  }
}, Effect.scoped)

const run = <A, E>(effect: Effect.Effect<A, E, Events | FileSystem.FileSystem>) =>
  Effect.runPromise(Effect.provide(effect, layer()))

const call = (name: string, args: Json.Json = {}, env = environment(), noiseKey = peer) =>
  run(ask(env, noiseKey, "tools/call", { name, arguments: args }))

const events = async () =>
  (await readFile(`${home.path}/events.jsonl`, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === "bridge_call")
    .map(({ ok, tool }) => [tool, ok])

describe("the bridge tools", () => {
  it("install by one installer for all members of a process, and are those of each member otherwise", async () => {
    const env = { ...environment(), CT_MANIFEST_WORK_DIR: `${home.path}/work` }
    const answers = await run(
      Effect.scoped(
        Effect.gen(function* () {
          const own = yield* settingsOf(env)
          const other = yield* settingsOf({ ...env, CT_CHANNEL_RELAY: "other.example.net:4436" })
          const all = yield* BridgeTools.ofAll([own, other, { ...own, bridge: { ...own.bridge, peer: undefined } }])
          const called = (name: string, args: Json.Json) =>
            Effect.forEach(all, (tools) => {
              const tool = tools.find((each) => each.name === name)
              return tool === undefined ? Effect.succeed("none") : tool.run(args, { noiseKey: peer, rights: "rw" })
            })
          const wanted = { manifest_location: "https://localhost:1/none", project_name: "echo" }
          return {
            installed: yield* called("bridge/manifest-install", wanted),
            facts: yield* called("bridge/config", {})
          }
        })
      )
    )
    const [first, second, third] = answers.installed as ReadonlyArray<any>
    assert.strictEqual(first.status, "rejected", JSON.stringify(answers.installed))
    assert.deepStrictEqual(second, first)
    assert.strictEqual(third, "none")
    assert.deepStrictEqual(
      (answers.facts as ReadonlyArray<any>).map(({ relay }) => relay),
      ["edge.example.net:4436", "other.example.net:4436", undefined]
    )
  })

  it("are listed for a member that names a bridge peer, and for no other", async () => {
    const listed = async (env: Readonly<Record<string, string>>) =>
      (await run(ask(env, peer, "tools/list"))).result.tools.map(({ name }: { name: string }) => name)
    assert.deepStrictEqual(await listed(environment()), names)
    const without = unset("CT_CHANNEL_BRIDGE_PEER")
    assert.deepStrictEqual(await listed(without), [])
    assert.deepStrictEqual(await listed({ ...without, CT_CHANNEL_BRIDGE_PEER: "abc" }), [])
  })

  for (const name of names)
    it(`refuse any other caller: ${name}`, async () => {
      const { error } = await call(name, { email: "eve@example.test" }, environment(), stranger)
      assert.strictEqual(error?.code, -32_000)
      assert.include(error?.message, name)
      assert.deepStrictEqual((await events()).at(-1), [name, false])
      assert.deepStrictEqual(asked, [])
    })

  it("say the version, and an event for each call", async () => {
    const { result } = await call("bridge/status")
    assert.deepStrictEqual(Object.keys(result).sort(), ["bridge_gated", "version"])
    assert.isTrue(result.bridge_gated)
    assert.deepStrictEqual((await events()).at(-1), ["bridge/status", true])
  })

  it("say in fifteen members what is configured, and no secret", async () => {
    const env = environment()
    const { result } = await call("bridge/config", {}, env)
    assert.strictEqual(Object.keys(result).length, 15)
    assert.deepInclude(result, {
      role: "accept",
      broker: "edge.example.net:4435",
      relay: "edge.example.net:4436",
      direct_upgrade: false,
      grant_issuance_configured: true,
      manifest_registry_configured: true,
      cp_url_configured: true,
      channel_id_configured: true,
      oidc_credential: "env"
    })
    const text = JSON.stringify(result)
    for (const [name, value] of Object.entries(env))
      if (/KEY|GRANT|TOKEN|PEER/.test(name)) assert.notInclude(text, value, name)
    const bare = await call(
      "bridge/config",
      {},
      {
        CT_CHANNEL_ROLE: "accept",
        CT_CHANNEL_ADDR: "127.0.0.1:7001",
        CT_CHANNEL_PEER_NOISE_KEY: Hex.encode(peer),
        CT_CHANNEL_NOISE_KEY: Hex.encode(server.noiseSecret),
        CT_CHANNEL_BRIDGE_PEER: Hex.encode(peer)
      }
    )
    assert.deepInclude(bare.result, {
      broker: null,
      relay: null,
      grant_issuance_configured: false,
      manifest_registry_configured: false,
      cp_url_configured: false,
      channel_id_configured: false,
      oidc_credential: "none"
    })
  })

  it("ask the control plane for the agent's own channel alone, with its bearer token", async () => {
    const path = `/me/channels/${Hex.encode(channel.channel)}`
    asked.length = 0
    const other = { channel: "ab".repeat(32) }
    assert.deepStrictEqual((await call("bridge/channel-members", other)).result, {
      members: [{ holder: "aa", noise_pubkey: null }]
    })
    assert.deepStrictEqual((await call("bridge/allowlist-list")).result, { emails: ["ada@example.test"] })
    const email = "eve/../x@example.test"
    assert.deepStrictEqual((await call("bridge/allowlist-add", { email })).result, { allow_listed: email })
    assert.deepStrictEqual((await call("bridge/allowlist-remove", { email })).result, { removed: email })
    assert.deepStrictEqual(
      asked.map(({ body, line }) => [line, body]),
      [
        [`GET ${path}/members`, ""],
        [`GET ${path}/allowlist`, ""],
        [`POST ${path}/allowlist`, `{"email":"${email}"}`],
        [`POST ${path}/allowlist/${encodeURIComponent(email)}/remove`, "{}"]
      ]
    )
    assert.isTrue(asked.every(({ authorization }) => authorization === "Bearer the-bearer"))
  })

  it("pass the control plane's reason on, and say what is missing", async () => {
    answers["/members"] = [403, `{"detail":"You do not own this channel."}`]
    const refused = await call("bridge/channel-members")
    assert.strictEqual(refused.error?.code, -32_000)
    assert.include(refused.error?.message, "403: You do not own this channel.")
    const tokenless = unset("CT_OIDC_TOKEN")
    assert.include((await call("bridge/channel-members", {}, tokenless)).error?.message, "CT_OIDC_TOKEN")
    const alone = unset("CT_AGENT_CP_URL")
    assert.include((await call("bridge/allowlist-list", {}, alone)).error?.message, "CT_AGENT_CP_URL")
    assert.include((await call("bridge/allowlist-add", { email: 7n })).error?.message, "wants an email")
  })

  it("list the registry's services with the addresses of their manifests, and any other answer as it is", async () => {
    const registry_url = url()
    assert.deepStrictEqual((await call("bridge/manifest-list")).result, {
      registry_url,
      manifests: [
        { manifest_id: "ab/c", manifest_url: `${registry_url}/manifests/ab%2Fc` },
        { manifest_id: "d", manifest_url: "https://x.test/d" },
        7
      ]
    })
    answers["/manifests"] = [200, `{"next":1}`]
    assert.deepStrictEqual((await call("bridge/manifest-list")).result, { registry_url, manifests: { next: 1 } })
    const without = unset("CT_MANIFEST_REGISTRY_URL")
    assert.include((await call("bridge/manifest-list", {}, without)).error?.message, "CT_MANIFEST_REGISTRY_URL")
  })

  it.live("read the file of the token at every use, three times when it cannot be read", () =>
    Effect.gen(function* () {
      answers["/members"] = [200, "{}"]
      const file = `${home.path}/token`
      const tokenless = unset("CT_OIDC_TOKEN")
      const env = { ...tokenless, CT_OIDC_TOKEN_FILE: file }
      const members = ask(env, peer, "tools/call", { name: "bridge/channel-members", arguments: {} })
      const [took, { error }] = yield* Effect.timed(members)
      assert.include(error?.message, "CT_OIDC_TOKEN_FILE")
      assert.isAtLeast(Duration.toMillis(took), 1490)
      for (const token of ["first", "second"]) {
        yield* Effect.promise(() => writeFile(file, ` ${token}\n`))
        assert.deepStrictEqual((yield* members).result, {})
        assert.strictEqual(asked.at(-1)?.authorization, `Bearer ${token}`)
      }
      yield* Effect.promise(() => writeFile(file, "\n"))
      assert.include((yield* members).error?.message, "no bearer token")
    }).pipe(Effect.provide(layer()))
  )

  it("show no token in an error", async () => {
    answers["/members"] = [500, `{"detail":"Bearer the-bearer is bad"}`]
    const { error } = await call("bridge/channel-members")
    assert.notInclude(error?.message, "the-bearer")
    assert.isTrue(Result.isSuccess(Json.parse(JSON.stringify(error))))
  })
})
