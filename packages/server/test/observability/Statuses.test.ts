import type { Status } from "@catenet/domain/api/StatusApi"
import { Tenant } from "@catenet/domain/enrollment/AgentStatus"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { until, untilSuccess } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { database } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { X509Certificate } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { rootCertificates } from "node:tls"
import type { EdgeAddress } from "../../src/edges/EdgeAddressStore.ts"
import { LiveEdges } from "../../src/edges/LiveEdges.ts"
import { KeySet } from "../../src/identity/KeySet.ts"
import * as LiveTunnelGauge from "../../src/observability/Statuses.ts"
import { Statuses } from "../../src/observability/Statuses.ts"
import * as Store from "../../src/observability/Statuses.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { redemption } from "../enrollment/Redemption.ts"

const folder = mkdtempSync(join(tmpdir(), "catenet-status-"))
const certificate = join(folder, "edge-cert.der")

/** An edge whose page of metrics comes when the test says so. */
const slowEdge = Effect.callback<{ readonly edge: Server; readonly url: string }>((resume) => {
  const edge = createServer((_request, response) => {
    edge.once("answer", () => response.end("ct_edge_active_tunnels 7\n"))
  })
  edge.listen(0, "127.0.0.1", () => {
    const address = edge.address()
    const port = typeof address === "object" ? address?.port : undefined
    resume(Effect.succeed({ edge, url: `http://127.0.0.1:${port}/metrics` }))
  })
})

/** Where an edge answers how many tunnels it serves, to no client without the token. */
const servingTunnels = (answer: (response: ServerResponse) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const server = createServer(({ headers, url }, response) => {
          const isRight = url === "/admin/active-tunnels" && headers["x-ct-admin-token"] === TestServer.adminToken
          if (!isRight) return void response.writeHead(401).end()
          answer(response.setHeader("content-type", "application/json"))
        }).listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  )

/** The gauge of a server that has these edges; the first is the one of its settings. */
const gaugeOf = (
  variables: Readonly<Record<string, string>>,
  ...edges: readonly [EdgeAddress, ...Array<EdgeAddress>]
) => {
  const provider = ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: "postgres://localhost/none", ...variables })
  const settings = Settings.layer.pipe(Layer.provide(ConfigProvider.layer(provider)))
  return Effect.provide(LiveTunnelGauge.makeLiveTunnelGauge, [
    settings,
    FetchHttpClient.layer,
    LiveEdges.layerOf(...edges)
  ])
}

const cleaned = Layer.effectDiscard(
  Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
)
const server = TestServer.layer({ CT_CP_EDGE_CERT_PATH: certificate, CT_CP_MESH_EDGE_PORT: "14433" })

layer(Layer.merge(server, cleaned), { excludeTestServices: true, timeout: "60 seconds" })("the public status", (it) => {
  it.effect("counts, and is refreshed behind the back of those who ask", () =>
    Effect.gen(function* () {
      const { provisioning, status } = yield* TestServer.client
      const first = yield* status.status()
      assert.deepInclude(first, { ready: true, tunnels: 0, agents: 0, oidc_enabled: false })
      const hostname = Schema.decodeSync(Hostname)("a.example.test")
      yield* provisioning.provisionTunnel({ headers: {}, payload: { subject: Subject.make("s"), name: "a", hostname } })
      const later = yield* until(status.status(), ({ tunnels }) => tunnels > 0, "100 millis")
      assert.strictEqual(later.tunnels, 1)
      assert.isAtLeast(later.uptime_seconds, first.uptime_seconds + 4)
    }).pipe(Effect.timeout("60 seconds"))
  )

  it.effect("does not show counts that are too old", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const variables = ConfigProvider.fromUnknown({ CT_CP_DATABASE_URL: Redacted.value(url) })
      const settings = Settings.layer.pipe(Layer.provide(ConfigProvider.layer(variables)))
      const keys = Layer.succeed(KeySet, {
        usable: () => false,
        generation: () => 0,
        getKey: () => Promise.reject(new Error("no key"))
      })
      const own = Statuses.layerNoDeps.pipe(
        Layer.provide([LiveEdges.layer, keys]),
        Layer.provide([settings, database]),
        Layer.provideMerge(TestClock.layer())
      )
      const { provisioning } = yield* TestServer.client
      const hostname = Schema.decodeSync(Hostname)("b.example.test")
      const payload = { subject: Subject.make("s"), name: "b", hostname }

      const [fresh, old] = yield* Effect.gen(function* () {
        const { answer } = yield* Statuses
        const tunnels = Effect.flatMap(answer, (response) =>
          Effect.promise(async () => ((await HttpServerResponse.toWeb(response).json()) as Status).tunnels)
        )
        const first = yield* tunnels
        yield* provisioning.provisionTunnel({ headers: {}, payload })
        const second = yield* tunnels
        yield* TestClock.adjust("10 seconds")
        return [second - first, (yield* tunnels) - first]
      }).pipe(Effect.provide(own))
      assert.deepStrictEqual([fresh, old], [0, 1])
    })
  )

  it.effect("counts every redemption of a join token, also a second one by the same agent", () =>
    Effect.gen(function* () {
      const { enrollment } = yield* TestServer.client
      const redeem = Effect.flatMap(
        enrollment.issue({ headers: {}, payload: { tenant: Tenant.make("twice") } }),
        ({ token }) => enrollment.redeem(redemption(token, "a"))
      )
      const agents = Effect.flatMap(Store.makeStatusStore, (store) =>
        Effect.map(store.counts(), (counts) => counts.agents)
      )
      const before = yield* agents
      yield* Effect.andThen(redeem, redeem)
      assert.strictEqual((yield* agents) - before, 2)
    }).pipe(Effect.provide(database))
  )

  it.effect("waits for no edge that hangs, and counts what it says late", () =>
    Effect.gen(function* () {
      const { edge, url } = yield* Effect.acquireRelease(slowEdge, ({ edge }) => Effect.sync(() => edge.close()))
      const gauge = yield* gaugeOf({ CT_CP_EDGE_METRICS_URL: url }, { id: "primary", url: "http://127.0.0.1:9/" })
      const [waited, first] = yield* Effect.timed(Effect.option(gauge))
      assert.isTrue(Option.isNone(first))
      assert.isBelow(Duration.toMillis(waited), onThisMachine(1_000))
      edge.emit("answer")
      assert.deepStrictEqual(yield* untilSuccess(gauge), { tunnels: 7, silent: [] })
    }).pipe(Effect.scoped)
  )

  it.effect("adds up what several edges serve, and names those that do not say it", () =>
    Effect.gen(function* () {
      const page = yield* slowEdge
      page.edge.on("request", () => setImmediate(() => page.edge.emit("answer")))
      const [two, refusing, hanging] = yield* Effect.all([
        servingTunnels((response) => response.end('{"active_tunnels":2}')),
        servingTunnels((response) => response.writeHead(500).end()),
        servingTunnels(() => {})
      ])
      const gauge = yield* gaugeOf(
        { CT_CP_EDGE_METRICS_URL: page.url, CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken },
        { id: "primary", url: hanging },
        { id: "a", url: two },
        { id: "b", url: refusing },
        { id: "c", url: hanging },
        { id: "d", url: "http://127.0.0.1:9/" }
      )
      const [waited] = yield* Effect.timed(Effect.option(gauge))
      const both = Effect.filterOrFail(gauge, ({ tunnels }) => tunnels === 9)
      assert.deepStrictEqual((yield* untilSuccess(both)).silent, ["b", "c", "d"])
      assert.isBelow(Duration.toMillis(waited), onThisMachine(1_000))
    }).pipe(Effect.scoped)
  )

  it.effect("names all edges where none says what it serves", () =>
    Effect.gen(function* () {
      const nowhere = "http://127.0.0.1:9/"
      const gauge = yield* gaugeOf(
        { CT_CP_EDGE_ADMIN_TOKEN: TestServer.adminToken },
        { id: "primary", url: nowhere },
        { id: "a", url: nowhere }
      )
      assert.deepStrictEqual((yield* Effect.flip(gauge)).silent, ["primary", "a"])
    }).pipe(Effect.scoped)
  )

  it.effect("publishes the ports", () =>
    Effect.gen(function* () {
      const { status } = yield* TestServer.client
      assert.deepInclude(yield* status.networkInfo(), {
        mesh_edge_port: 14433,
        channel_broker_port: 0,
        channel_relay_port: 0
      })
      const without = yield* status.networkInfo()
      assert.notProperty(without, "channel_relay_gate_port", "nothing listens there")
      const named = yield* Layer.build(
        TestServer.replica({
          CT_CP_CHANNEL_BROKER_PORT: "14435",
          CT_CP_CHANNEL_RELAY_PORT: "14436",
          CT_CP_CHANNEL_RELAY_GATE_PORT: "443"
        })
      )
      const there = yield* Effect.provide(
        Effect.flatMap(TestServer.client, (client) => client.status.networkInfo()),
        named
      )
      assert.deepInclude(there, {
        channel_broker_port: 14_435,
        channel_relay_port: 14_436,
        channel_relay_gate_port: 443
      })
    }).pipe(Effect.scoped)
  )

  it.effect("gives the mesh root once the edge has published it, and never another one", () =>
    Effect.gen(function* () {
      const { status } = yield* TestServer.client
      assert.strictEqual((yield* Effect.flip(status.edgeCa()))._tag, "EdgeCaNotPublished")
      const [first, second] = rootCertificates.map((pem) => new Uint8Array(new X509Certificate(pem).raw))
      if (first === undefined || second === undefined) throw new Error("Node has no two root certificates")
      writeFileSync(certificate, "")
      assert.strictEqual((yield* TestServer.raw("/pki/ca")).status, 503)
      // As a copy that is still running leaves it.
      writeFileSync(certificate, first.subarray(0, 100))
      assert.deepInclude(yield* Effect.flip(status.edgeCa()), { _tag: "EdgeCaNotConfigured", reason: "unusable" })
      writeFileSync(certificate, first)
      assert.deepStrictEqual(yield* status.edgeCa(), first)
      writeFileSync(certificate, second)
      const response = yield* TestServer.raw("/pki/ca")
      assert.strictEqual(response.headers.get("content-type"), "application/x-x509-ca-cert")
      assert.deepStrictEqual(new Uint8Array(yield* Effect.promise(() => response.arrayBuffer())), first)
    })
  )

  it.effect("is ready as long as the database can be read", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* TestServer.raw("/readyz")).status, 200)
      const { url } = yield* TestDatabase
      const rename = (from: string, to: string) =>
        Effect.provide(
          SqlClient.SqlClient.use((sql) => sql.unsafe(`alter table ${from} rename to ${to}`)),
          PgClient.layer({ url })
        )
      yield* rename("schema_migrations", "gone")
      assert.strictEqual((yield* TestServer.raw("/readyz")).status, 503)
      assert.strictEqual((yield* TestServer.raw("/healthz")).status, 200)
      yield* rename("gone", "schema_migrations")
      assert.strictEqual((yield* TestServer.raw("/readyz")).status, 200)
    })
  )
})
