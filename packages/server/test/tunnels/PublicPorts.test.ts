/** Public ports, and TLS in place of one. One file, since a server takes longer to start than most of the cases. */
import { TunnelRules } from "@catenet/domain/api/TunnelControlsApi"
import { EdgeId, Heartbeat, PeerAddress } from "@catenet/domain/edges/EdgeNode"
import { type OfferedPorts, PortName } from "@catenet/domain/edges/PublicPort"
import { AccountLimitsChange } from "@catenet/domain/identity/AccountLimits"
import { TunnelChange, TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { until } from "@catenet/testing/Eventually"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

const variables = Effect.map(TestIssuer, ({ issuer }) => ({
  CT_OIDC_ISSUER: issuer,
  CT_CP_HOSTNAME_ZONE: "zone.example",
  CT_CP_PORTS_PER_ACCOUNT: "2"
}))
const server = Layer.unwrap(Effect.map(variables, TestServer.layer)).pipe(Layer.provideMerge(TestIssuer.layer))

const account = Effect.fnUntraced(function* (sub: string) {
  const { tunnels } = yield* TestServer.clientAs({ bearer: yield* bearerOf(sub) })
  return tunnels
})

const name = Schema.decodeSync(TunnelName)
const readRules = Schema.decodeUnknownSync(TunnelRules)

/** The edge lives, offers these ports, and takes orders at an address. */
const beat = (id: string, ports?: typeof OfferedPorts.Type) =>
  Effect.flatMap(TestServer.client, ({ edges }) =>
    edges.heartbeat({
      payload: new Heartbeat({
        id: EdgeId.make(id),
        peer_addr: PeerAddress.make("a:1"),
        ...(ports === undefined ? {} : { ports })
      })
    })
  )

const inDatabase = <A, E>(use: Effect.Effect<A, E, SqlClient.SqlClient>) =>
  Effect.flatMap(TestDatabase, ({ url }) => Effect.provide(use, PgClient.layer({ url })))

const orders = (token: string) =>
  inDatabase(
    SqlClient.SqlClient.use(
      (sql) => sql<{ edge: string; call: { _tag: string; port?: unknown } }>`
        select edge, call from outbox where queue = ${token} order by id`
    )
  )

const made = (sub: string, kind: "tcp" | "udp", label: string, port?: number) =>
  Effect.flatMap(account(sub), (tunnels) =>
    tunnels.create({ headers: {}, payload: { name: name(label), kind, ...(port === undefined ? {} : { port }) } })
  )
const refused = (...given: Parameters<typeof made>) => Effect.map(Effect.flip(made(...given)), ({ _tag }) => _tag)

const offer: typeof OfferedPorts.Type = { tcp: [[20_000, 20_005]], udp: [] }

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("a tunnel with a public port", (it) => {
  it.effect("is refused while no edge offers ports, and names what the operator sets", () =>
    Effect.gen(function* () {
      const refusal = yield* Effect.flip(made("ada", "tcp", "ssh"))
      assert.strictEqual(refusal._tag, "NoPortLeft")
      assert.include(String(refusal.message), "CT_EDGE_PORTS")
      const tunnels = yield* account("ada")
      assert.deepStrictEqual([...(yield* tunnels.list({ query: {} }))], [])
    })
  )

  it.effect("has its port from the ranges of live edges as long as it exists, at every read", () =>
    Effect.gen(function* () {
      yield* beat("one", offer)
      const tunnels = yield* account("ada")
      const tunnel = yield* made("ada", "tcp", "ssh")
      assert.deepInclude(tunnel, { kind: "tcp", port: 20_000, port_host: "tcp.zone.example", hostname: null })
      assert.deepStrictEqual(yield* tunnels.get({ params: { id: tunnel.id } }), tunnel)
      assert.deepStrictEqual([...(yield* tunnels.list({ query: {} }))], [tunnel])
      const installation = yield* tunnels.install({ headers: {}, params: { id: tunnel.id } })
      assert.strictEqual(installation.public_url, "tcp://tcp.zone.example:20000")
      const { edges } = yield* TestServer.client
      const known = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("one") }, query: {} })
      assert.deepStrictEqual(
        known.map(({ port }) => port),
        [{ protocol: "tcp", port: 20_000 }]
      )
      const rotated = yield* tunnels.rotateToken({ headers: {}, params: { id: tunnel.id } })
      assert.notStrictEqual(Redacted.value(rotated.routing_token), Redacted.value(installation.routing_token))
      assert.strictEqual((yield* tunnels.get({ params: { id: tunnel.id } })).port, 20_000)
    })
  )

  it.effect("has rules about addresses only", () =>
    Effect.gen(function* () {
      const [tunnel] = yield* (yield* account("ada")).list({ query: {} })
      if (tunnel === undefined) return assert.fail("the tunnel of above")
      const { tunnelControls } = yield* TestServer.clientAs({ bearer: yield* bearerOf("ada") })
      const set = (...rules: ReadonlyArray<unknown>) =>
        tunnelControls.setRules({ params: { id: tunnel.id }, payload: readRules({ rules }) })
      const office = { allow: ["10.0.0.0/8"] }
      assert.deepStrictEqual(yield* set(office), readRules({ rules: [office] }))
      const refusal = yield* Effect.flip(set(office, { max_body: "1 MiB" }))
      assert.deepInclude(refusal, { _tag: "RulesRefused", field: "rules[1].max_body" })
    })
  )

  it.effect("gets the port it asks for, or a refusal that says why not and changes nothing", () =>
    Effect.gen(function* () {
      yield* beat("one", offer)
      assert.strictEqual((yield* made("bob", "tcp", "wish", 20_003)).port, 20_003)
      assert.strictEqual(yield* refused("eve", "tcp", "taken", 20_003), "PortTaken")
      assert.strictEqual(yield* refused("eve", "tcp", "outside", 20_006), "PortRefused")
      assert.strictEqual(yield* refused("eve", "udp", "none"), "NoPortLeft")
      const eve = yield* account("eve")
      const create = (payload: Omit<Parameters<typeof eve.create>[0]["payload"], "name">) =>
        Effect.map(
          Effect.flip(eve.create({ headers: {}, payload: { name: name("x"), ...payload } })),
          ({ _tag }) => _tag
        )
      assert.strictEqual(yield* create({ port: 20_001 }), "PortRefused")
      assert.strictEqual(
        yield* create({ kind: "tcp", hostname: Schema.decodeSync(Hostname)("a.example.net") }),
        "PortRefused"
      )
      assert.deepStrictEqual([...(yield* eve.list({ query: {} }))], [])
    })
  )

  it.effect("cannot ask visitors to log in or to speak HTTP only", () =>
    Effect.gen(function* () {
      yield* beat("one", offer)
      const fay = yield* account("fay")
      const { id } = yield* made("fay", "tcp", "ssh")
      for (const payload of [new TunnelChange({ require_login: true }), new TunnelChange({ http_only: true })])
        assert.strictEqual((yield* Effect.flip(fay.change({ params: { id }, payload })))._tag, "PortRefused")
      assert.strictEqual(
        (yield* fay.change({ params: { id }, payload: new TunnelChange({ name: name("ssh 2") }) })).name as string,
        "ssh 2"
      )
      yield* fay.remove({ params: { id } })
    })
  )

  it.effect("counts against the account's limit, and a deleted one frees its port, which is given out last", () =>
    Effect.gen(function* () {
      yield* beat("one", { tcp: [[21_000, 21_009]], udp: [[21_000, 21_009]] })
      const gus = yield* account("gus")
      const first = yield* made("gus", "tcp", "a")
      const second = yield* made("gus", "udp", "b")
      assert.deepStrictEqual([first.port, second.port, second.port_host], [21_000, 21_000, "udp.zone.example"])
      assert.strictEqual(yield* refused("gus", "tcp", "c"), "PortLimitReached")
      yield* gus.remove({ params: { id: first.id } })
      assert.strictEqual((yield* made("gus", "tcp", "c")).port, 21_001)
      assert.strictEqual((yield* made("hal", "tcp", "d", 21_000)).port, 21_000)
      // An operator allows one account another number.
      const { operators } = yield* TestServer.client
      const limit = (max_ports: number | null) =>
        operators.changeLimits({
          params: { subject: Schema.decodeSync(Subject)("gus") },
          payload: new AccountLimitsChange({ max_ports })
        })
      assert.strictEqual((yield* limit(3)).max_ports, 3)
      const third = yield* made("gus", "tcp", "e")
      assert.strictEqual(yield* refused("gus", "tcp", "f"), "PortLimitReached")
      yield* gus.remove({ params: { id: third.id } })
      assert.strictEqual((yield* limit(null)).max_ports, 2)
      assert.strictEqual(yield* refused("gus", "tcp", "e"), "PortLimitReached")
    })
  )

  it.effect("leaves ports to accounts that have fewer", () =>
    Effect.gen(function* () {
      yield* beat("one", { tcp: [[22_000, 22_001]], udp: [] })
      yield* made("ian", "tcp", "a")
      assert.strictEqual(yield* refused("ian", "tcp", "b"), "NoPortLeft")
      yield* made("joe", "tcp", "a")
      assert.strictEqual(yield* refused("kim", "tcp", "a"), "NoPortLeft")
    })
  )

  it.effect("is allotted once to each of many at the same moment", () =>
    Effect.gen(function* () {
      yield* beat("one", { tcp: [[23_000, 23_011]], udp: [] })
      const all = yield* Effect.all(
        Array.from({ length: 12 }, (_, n) => made(`race-${n}`, "tcp", "x")),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(all.map(({ port }) => port)).size, 12)
    })
  )

  it.effect("is ordered from edges that offer ports and from no other", () =>
    Effect.gen(function* () {
      yield* beat("one", { tcp: [[24_000, 24_009]], udp: [] })
      yield* beat("two")
      yield* inDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql`insert into edge_addresses (edge_id, admin_url, expires_at)
            values ('one', 'http://127.0.0.1:9', 99999999999), ('two', 'http://127.0.0.1:9', 99999999999)`
        )
      )
      const lee = yield* account("lee")
      const { id } = yield* made("lee", "tcp", "x")
      const { routing_token } = yield* lee.install({ headers: {}, params: { id } })
      const written = yield* orders(Redacted.value(routing_token))
      assert.deepStrictEqual(
        written.filter(({ call }) => call._tag === "SetPort").map(({ call, edge }) => [edge, call.port]),
        [["one", { protocol: "tcp", port: 24_000 }]]
      )
    })
  )

  it.effect("of kind tcp with TLS has a host name in the zone in place of a port, and stays edge-terminated", () =>
    Effect.gen(function* () {
      yield* beat("one", offer)
      const zoe = yield* account("zoe")
      const create = (payload: Omit<Parameters<typeof zoe.create>[0]["payload"], "name">, as = "db") =>
        zoe.create({ headers: {}, payload: { name: name(as), kind: "tcp", tls: true, ...payload } })
      const tunnel = yield* create({})
      assert.deepInclude(tunnel, { kind: "tcp", tls: true, port: null, port_host: null, status: "gelb" })
      assert.match(tunnel.hostname ?? "", /^db-[0-9a-f]{8}\.zone\.example$/u)
      const params = { id: tunnel.id }
      assert.deepStrictEqual(yield* zoe.get({ params }), tunnel)
      const { public_url, routing_token } = yield* zoe.install({ headers: {}, params })
      assert.strictEqual(public_url, `tls://${tunnel.hostname}:443`)
      const { edges } = yield* TestServer.client
      const known = yield* edges.rehydrate({ params: { edge_id: EdgeId.make("one") }, query: {} })
      const restored = known.find(({ hostname }) => hostname === tunnel.hostname)
      assert.deepInclude(restored, { tier: "gelb", tls: true, port: null })

      const own = Schema.decodeSync(Hostname)("db.example.net")
      const field = (refusal: { readonly _tag: string }) =>
        refusal._tag === "PortRefused" && "field" in refusal ? refusal.field : refusal._tag
      for (const [payload, expected] of [
        [{ kind: "udp" }, "tls"],
        [{ kind: "http" }, "tls"],
        [{ port: 20_001 }, "port"],
        [{ hostname: own }, "hostname"]
      ] as const)
        assert.strictEqual(field(yield* Effect.flip(create(payload, "other"))), expected)
      for (const hostname of [own, null])
        assert.strictEqual(field(yield* Effect.flip(zoe.setHostname({ params, payload: { hostname } }))), "hostname")
      for (const change of [{ require_login: true }, { http_only: true }])
        assert.strictEqual(
          field(yield* Effect.flip(zoe.change({ params, payload: new TunnelChange(change) }))),
          Object.keys(change)[0]
        )
      const { tunnelControls } = yield* TestServer.clientAs({ bearer: yield* bearerOf("zoe") })
      const rules = (...all: ReadonlyArray<unknown>) =>
        tunnelControls.setRules({ params, payload: readRules({ rules: all }) })
      yield* rules({ allow: ["10.0.0.0/8"] })
      assert.strictEqual((yield* Effect.flip(rules({ max_body: "1 MiB" })))._tag, "RulesRefused")
      const chosen = yield* create({ hostname: Schema.decodeSync(Hostname)("chosen.zone.example") }, "chosen")
      assert.strictEqual(chosen.hostname as string, "chosen.zone.example")
      assert.deepStrictEqual((yield* zoe.list({ query: {} })).map(({ name }) => name as string).toSorted(), [
        "chosen",
        "db"
      ])
      const rotated = yield* zoe.rotateToken({ headers: {}, params })
      assert.notStrictEqual(Redacted.value(rotated.routing_token), Redacted.value(routing_token))
      assert.isTrue((yield* zoe.get({ params })).tls)
    })
  )

  it.effect("is found at the live edge that has an agent of the tunnel now", () =>
    Effect.gen(function* () {
      yield* beat("one", { tcp: [[25_000, 25_009]], udp: [] })
      yield* beat("two")
      const connected = new Set<string>()
      const admin = (id: string) =>
        Effect.acquireRelease(
          Effect.callback<Server>((resume) => {
            const server = createServer((_request, response) => {
              const report = { connected: connected.has(id), registrations: 0, fallback_parked: 0, direct: false }
              const rest = { bytes_received: 0, bytes_sent: 0, connected_since: null, last_seen: null }
              response.setHeader("content-type", "application/json").end(JSON.stringify({ ...report, ...rest }))
            })
            server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
          }),
          (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
        )
      const [one, two] = [yield* admin("one"), yield* admin("two")]
      yield* inDatabase(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          for (const [id, server] of Object.entries({ one, two })) {
            const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
            yield* sql`insert into edge_addresses (edge_id, admin_url, expires_at) values (${id}, ${url}, 99999999999)
              on conflict (edge_id) do update set admin_url = ${url}, expires_at = 99999999999`
          }
        })
      )
      const max = yield* account("max")
      const { id, port } = yield* made("max", "tcp", "x")
      const { edges } = yield* TestServer.client
      const lookup = (name: string) =>
        edges.lookup({ query: { port: PortName.make(name) } }).pipe(
          Effect.map(({ edge_id }): string => edge_id),
          Effect.catchTag("NoLiveEdge", () => Effect.succeed("none"))
        )
      assert.strictEqual(yield* lookup(`tcp/${port}`), "none")
      connected.add("two")
      assert.strictEqual(yield* until(lookup(`tcp/${port}`), (found) => found !== "none"), "two")
      assert.strictEqual(yield* lookup(`udp/${port}`), "none")
      yield* max.remove({ params: { id } })
      assert.strictEqual(yield* lookup(`tcp/${port}`), "none")
    }).pipe(Effect.scoped)
  )
})
