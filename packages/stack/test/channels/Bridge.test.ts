/**
 * The agent bridge from the portal's form to the tool of an agent: the control plane joins the channel by itself, at an edge that
 * may refuse it.
 */
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { BridgeDialer } from "@catenet/server/internal/channels/BridgeDialer"
import { Settings } from "@catenet/server/internal/settings/Settings"
import { type Home, isAlive, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { type Broker, startBroker } from "@catenet/testing/agent/Broker"
import { bundleOf, manifestOf } from "@catenet/testing/agent/Bundles"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { ask, person } from "@catenet/testing/server/channels/Asking"
import { headersOf } from "@catenet/testing/server/Contract"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { ChannelId, Grant } from "../../../domain/src/channels/Channel.ts"
import * as ChannelDialer from "../../src/bridge/ChannelDialer.ts"

const authority = makeAuthority("edge root")
const channel = makeChannel()
const [bridge, agent] = [channel.member("initiate"), channel.member("accept")]
const channelId = Hex.encode(channel.channel)
const publisher = new Uint8Array(32).fill(0x41)

/** An edge that pairs, or answers each join with this refusal. */
type Token = Parameters<typeof Refusal.encode>[0]

const edge = Effect.gen(function* () {
  const home = yield* Effect.acquireRelease(Effect.promise(makeHome), (each) =>
    Effect.promise(() => each[Symbol.asyncDispose]())
  )
  let token: Token | undefined
  const broker = yield* Effect.acquireRelease(
    Effect.promise(() =>
      startBroker({
        authority,
        channel,
        members: [bridge, agent],
        answer: () => (token === undefined ? undefined : Refusal.encode(token))
      })
    ),
    (each) => Effect.promise(() => each[Symbol.asyncDispose]())
  )
  const root = join(home.path, "root.pem")
  writeFileSync(root, authority.pem)
  return {
    home,
    broker,
    root,
    refuse: (next: typeof token) => {
      token = next
    },
    variables: {
      CT_BRIDGE_HOLDER_KEY: Hex.encode(bridge.holderSeed),
      CT_BRIDGE_NOISE_KEY: Hex.encode(bridge.noiseSecret),
      CT_CHANNEL_FRONT_DOOR: `${broker.host}:${broker.port}`,
      CT_CP_EDGE_CERT_PATH: root
    }
  }
})

class Edge extends Context.Service<
  Edge,
  {
    readonly home: Home
    readonly broker: Broker
    readonly root: string
    readonly refuse: (next: Token | undefined) => void
    readonly variables: Readonly<Record<string, string>>
  }
>()("test/BridgeEdge") {
  static readonly layer = Layer.effect(Edge, edge)
}

const dialer = (variables: Readonly<Record<string, string>>) =>
  ChannelDialer.layer.pipe(
    Layer.provide(Settings.layer),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({
          CT_CP_DATABASE_URL: "postgres://localhost/unused",
          CT_CP_SEAL_KEY: TestServer.sealKey,
          ...variables
        })
      )
    )
  )

const server = Layer.unwrap(
  Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const { variables } = yield* Edge
    return TestServer.layer({ CT_OIDC_ISSUER: issuer, ...variables }).pipe(Layer.provide(dialer(variables)))
  })
).pipe(Layer.provideMerge(Layer.merge(TestIssuer.layer, Edge.layer)))

const ada = person("ada")

const post = (path: string, form: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const response = yield* TestServer.raw(path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...(yield* headersOf(ada)) },
      body: new URLSearchParams(form).toString()
    })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, text: text.replaceAll(/&(?:quot|#34|#x22);/gu, `"`) }
  })

/** A publisher's site with one service; the address of its manifest. */
const site = Effect.gen(function* () {
  const { home } = yield* Edge
  const own = makeAuthority("publisher root")
  writeFileSync(join(home.path, "publisher.pem"), own.pem)
  const bundle = bundleOf([
    { path: "bin/run.sh", text: "#!/bin/sh\necho $$ > pid; exec sleep 1000\n", mode: 0o755 },
    { path: "check.sh", text: "#!/bin/sh\nuntil test -s pid; do sleep 0.02; done\n", mode: 0o755 }
  ])
  let manifest = ""
  const listener = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const started = createServer(own.leaf("localhost"), ({ url }, response) =>
        response.end(url === "/bundle" ? bundle : manifest)
      )
      started.listen(0)
      await once(started, "listening")
      return started
    }),
    (each) => Effect.sync(() => (each.closeAllConnections(), each.close()))
  )
  const origin = `https://localhost:${(listener.address() as AddressInfo).port}`
  const verify = { script: "check.sh", timeoutSecs: 5n }
  manifest = manifestOf(publisher, { url: `${origin}/bundle`, bytes: bundle }, { verify })
  return `${origin}/manifest`
})

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the bridge of a control plane", (it) => {
  it.effect("calls an agent's tool and installs a service there, by the portal's forms", () =>
    Effect.gen(function* () {
      const { broker, home, refuse, root } = yield* Edge
      const { body } = yield* ask(ada, "/me/tunnels", { name: "cam" })
      const own = `/portal/tunnels/${String(body["id"])}/agent-bridge`
      const deposit = yield* post(`${own}/grant`, { channel_id: channelId, grant_hex: bridge.grant })
      assert.strictEqual(deposit.status, 303, deposit.text)

      for (const token of [...Refusal.tokens, Refusal.unavailable] as const) {
        refuse(token)
        const refused = yield* ask(ada, `/me/tunnels/${String(body["id"])}/agent-bridge/call`, {
          tool: "bridge/status"
        })
        assert.deepInclude(refused, { status: 502, code: "BridgeCallFailed" }, token)
        assert.include(String(refused.body["detail"]), `The edge refused the join (${token}). `)
      }
      refuse("not-member")
      const page = yield* post(`${own}/call`, { tool: "bridge/status" })
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "The channel does not know this holder.")
      refuse(undefined)

      const location = yield* site
      const workDir = join(home.path, "services")
      const env = {
        ...agent.env,
        CT_CHANNEL_BROKER: `${broker.host}:${broker.port}`,
        CT_CHANNEL_RELAY: `${broker.host}:${broker.port}`,
        CT_CHANNEL_RELAY_ONLY: "1",
        CT_CHANNEL_FRONT_DOOR: `${broker.host}:${broker.port}`,
        CT_CHANNEL_FRONT_DOOR_CERT: root,
        CT_CHANNEL_FRONT_DOOR_ONLY: "1",
        CT_CHANNEL_SERVE: "1",
        CT_CHANNEL_BRIDGE_PEER: Hex.encode(bridge.noiseKey),
        CT_MANIFEST_TRUST_ALLOWLIST: Hex.encode(native.ed25519.publicKey(publisher)),
        CT_MANIFEST_WORK_DIR: workDir,
        NODE_EXTRA_CA_CERTS: join(home.path, "publisher.pem")
      }
      const serving = yield* Effect.acquireRelease(
        Effect.sync(() => runAgent(home, env, ["channel"])),
        (each) => Effect.promise(() => each[Symbol.asyncDispose]())
      )
      const called = yield* post(`${own}/call`, { tool: "bridge/config", arguments: "" })
      assert.strictEqual(called.status, 200)
      assert.include(called.text, `"manifest_work_dir_configured": true`, serving.lines.join("\n"))
      const installed = yield* post(`${own}/manifest/install`, { manifest_location: location, project_name: "echo" })
      assert.strictEqual(installed.status, 200)
      assert.include(installed.text, `"status": "ok"`, serving.lines.join("\n"))
      assert.include(installed.text, `"install_dir": "${workDir}/echo"`)
      const pid = Number(readFileSync(join(workDir, "echo", "pid"), "utf8"))
      assert.isTrue(isAlive(pid))
      const again = yield* post(`${own}/manifest/install`, { manifest_location: location, project_name: "echo" })
      assert.include(again.text, "project_exists")
      const fleet = yield* ask(ada, "/me/fleet")
      const [row] = fleet.body as unknown as ReadonlyArray<{ readonly gaps: ReadonlyArray<string> }>
      assert.notInclude(row?.gaps ?? [], "manifest_work_dir_configured")
      assert.include(row?.gaps ?? [], "manifest_registry_configured")
      serving.kill()
      yield* Effect.promise(() => eventually(() => !isAlive(pid), "the service ends with the agent"))
    }).pipe(Effect.scoped)
  )
})

const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length

describe("a call of the bridge", () => {
  it.effect("has 20 seconds, the meeting included", () =>
    Effect.gen(function* () {
      const { broker, variables } = yield* Edge
      const dial = Context.get(yield* Layer.build(dialer(variables)), BridgeDialer)
      const call = dial({
        channel: Schema.decodeSync(ChannelId)(channelId),
        grant: Schema.decodeSync(Grant)(bridge.grant),
        tool: "bridge/status",
        arguments: {}
      })
      const fiber = yield* Effect.forkChild(Effect.flip(call))
      yield* Effect.promise(() => eventually(() => broker.joins.length > 0, "it waits for the agent"))
      const during = openSockets()
      yield* TestClock.adjust("19 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.include((yield* Fiber.join(fiber)).why, "answer within 20 seconds")
      yield* Effect.promise(() => eventually(() => openSockets() < during, "it leaves the edge"))
    }).pipe(Effect.scoped, Effect.provide(Edge.layer))
  )
})
