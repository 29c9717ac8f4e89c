/** Agents of one tunnel by variables, with a real control plane and edge: their inspector, and what the end of a grant does to them. */
import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import type { Subject } from "@catenet/domain/values/Ids"
import { until } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { ready } from "@catenet/testing/server/Accounts"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { ask } from "../gate/GateStack.ts"
import { AccountEdge, ended, home, login, running, stack } from "./AccountStack.ts"

const origin = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = createServer((_, response) => response.end("served"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return { port: (server.address() as AddressInfo).port, server }
  }),
  ({ server }) => Effect.sync(() => (server.closeAllConnections(), void server.close()))
)

/** An account that is signed in, by its API and as its subject. */
const account = Effect.fnUntraced(function* (person: "vera@example.test" | "eve@example.test") {
  const at = yield* home
  yield* login(at, person, [yield* TestServer.baseUrl])
  const token = String(JSON.parse(readFileSync(join(at.path, ".ct-agent", "oidc-token.json"), "utf8"))["access_token"])
  const { sub } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString())
  return { api: yield* TestServer.clientAs({ bearer: token }), subject: sub as Subject }
})

layer(stack, { excludeTestServices: true, timeout: "120 seconds" })("an agent of one tunnel", (it) => {
  it.effect("gets the new token within seconds after the end of a grant, whose grantee's token serves nothing", () =>
    Effect.gen(function* () {
      const edge = yield* AccountEdge
      const url = yield* TestServer.baseUrl
      const { port } = yield* origin
      yield* ready
      const owner = yield* account("vera@example.test")
      const guest = yield* account("eve@example.test")
      const { id } = yield* owner.api.tunnels.create({
        headers: {},
        payload: { name: Schema.decodeSync(TunnelName)("shared") }
      })
      yield* owner.api.tunnels.grant({ params: { id }, payload: { grantee: guest.subject } })
      const variables = ({ api }: typeof owner) =>
        Effect.map(api.tunnels.install({ headers: {}, params: { id } }), (made) => ({
          CT_AGENT_CP_URL: url,
          CT_AGENT_TOKEN: Redacted.value(made.routing_token),
          CT_AGENT_HOSTNAME: made.hostname ?? "",
          CT_AGENT_MODE: "browser",
          CT_AGENT_ORIGIN: `127.0.0.1:${port}`,
          CT_AGENT_RECONNECT_BASE_MS: "100",
          join: Redacted.value(made.join_token)
        }))
      const { join: ownJoin, ...own } = yield* variables(owner)
      const { join: guestJoin, ...guests } = yield* variables(guest)
      const ownHome = yield* home
      const guestHome = yield* home
      const agent = yield* running(ownHome, ["--inspect"], { ...own, CT_AGENT_JOIN_TOKEN: ownJoin, CT_AGENT_ID: "own" })
      yield* Effect.promise(() => agent.said("event: registered"))
      const visit = Effect.promise(async () => (await ask(edge, `https://${own.CT_AGENT_HOSTNAME}/`)).text)
      assert.strictEqual(yield* visit, "served")
      const inspected = yield* ended(ownHome, ["inspect", "--json"])
      const { requests } = JSON.parse(inspected.stdout) as {
        requests: ReadonlyArray<{ readonly service: string | null; readonly target: string }>
      }
      const [first = assert.fail(inspected.stderr)] = requests
      assert.deepStrictEqual([first.service, first.target], [null, "/"])

      const other = yield* running(guestHome, [], { ...guests, CT_AGENT_JOIN_TOKEN: guestJoin, CT_AGENT_ID: "guest" })
      yield* Effect.promise(() => other.said("event: registered"))
      yield* until(owner.api.tunnels.get({ params: { id } }), ({ agent_proof }) => agent_proof === "required")
      assert.strictEqual(yield* visit, "served")

      const from = process.hrtime.bigint()
      yield* owner.api.tunnels.ungrant({ params: { id, grantee: guest.subject } })
      assert.strictEqual(yield* Effect.promise(() => other.exited), 4, other.lines.join("\n"))
      yield* Effect.promise(() => agent.said("another routing token now"))
      yield* until(visit, (text) => text === "served")
      assert.isBelow(Number(process.hrtime.bigint() - from) / 1e6, onThisMachine(5_000))

      // The former grantee comes again: with its key, as somebody without one, and with a key of its own making.
      const again = yield* running(guestHome, [], { ...guests, CT_AGENT_ID: "guest" })
      assert.strictEqual(yield* Effect.promise(() => again.exited), 4, again.lines.join("\n"))
      const bare = yield* running(yield* home, [], guests)
      assert.strictEqual(yield* Effect.promise(() => bare.exited), 4, bare.lines.join("\n"))

      // A start with the token that the machine was given once asks nobody: the new one is kept.
      agent.kill()
      yield* Effect.promise(() => agent.exited)
      const restarted = yield* running(ownHome, [], { ...own, CT_AGENT_ID: "own" })
      yield* Effect.promise(() => restarted.said("event: registered"))
      assert.strictEqual(yield* visit, "served")
      assert.notInclude(restarted.lines.join("\n"), "another routing token")
    })
  )
})
