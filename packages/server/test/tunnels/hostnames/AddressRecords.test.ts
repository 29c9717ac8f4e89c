import { TunnelName } from "@catenet/domain/tunnels/Tunnel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { until } from "@catenet/testing/Eventually"
import * as Accounts from "@catenet/testing/server/Accounts"
import { keyName, NameServer, secret } from "@catenet/testing/server/dns/NameServer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

const variables = Effect.map(NameServer, ({ port }) => ({
  CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
  CT_CP_DNS_UPDATE_ZONE: "zone.test.",
  CT_CP_DNS_UPDATE_KEY_NAME: keyName,
  CT_CP_DNS_UPDATE_KEY: secret.toString("base64"),
  CT_CP_DNS_EDGE_IP: "192.0.2.7, 192.0.2.8,2001:db8::7",
  CT_CP_OUTBOX_TICK_SECS: "1"
}))

const server = Layer.unwrap(Effect.map(variables, Accounts.server)).pipe(Layer.provideMerge(NameServer.layer))

const account = (sub: string) => Effect.flatMap(Accounts.bearerOf(sub), (bearer) => TestServer.clientAs({ bearer }))
const name = Schema.decodeSync(TunnelName)
const host = Schema.decodeSync(Hostname)

const create = (sub: string, called: string, hostname?: string) =>
  Effect.flatMap(account(sub), ({ tunnels }) =>
    tunnels.create({
      headers: {},
      payload: { name: name(called), ...(hostname === undefined ? {} : { hostname: host(hostname) }) }
    })
  )

const remove = (sub: string, id: Parameters<typeof host>[0]) =>
  Effect.flatMap(account(sub), ({ tunnels }) =>
    Effect.flatMap(tunnels.list({ query: {} }), (own) =>
      Effect.forEach(
        own.filter((tunnel) => tunnel.id === id),
        (tunnel) => tunnels.remove({ params: { id: tunnel.id } })
      )
    )
  )

const a = ["c0000207", "c0000208"]
const aaaa = ["20010db8000000000000000000000007"]

/** What the zone has for a hostname, once that is so. */
const has = (hostname: string | null, expected: "records" | "nothing") =>
  NameServer.use(({ addresses }) =>
    until(
      Effect.sync(() => [addresses.get(`${hostname} A`), addresses.get(`${hostname} AAAA`)] as const),
      ([four, six]) =>
        expected === "records"
          ? four?.join() === a.join() && six?.join() === aaaa.join()
          : four === undefined && six === undefined
    )
  )

const rows = Effect.provide(
  SqlClient.SqlClient.use(
    (sql) => sql<{ hostname: string; dueAt: number | null }>`
      select hostname, due_at from address_records order by hostname`
  ),
  Accounts.database
)

/** The rows of names, once nothing is to be done. */
const settled = Effect.map(
  until(rows, (found) => found.every(({ dueAt }) => dueAt === null)),
  (found) => found.map(({ hostname }) => hostname)
)

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("address records", (it) => {
  it.effect("come with the hostname that a tunnel is given, and go with the tunnel", () =>
    Effect.gen(function* () {
      const { hostname, id } = yield* create("ada", "My Camera")
      assert.match(hostname ?? "", /^my-camera-[0-9a-f]{8}\.zone\.test$/)
      yield* has(hostname, "records")
      yield* remove("ada", id)
      yield* has(hostname, "nothing")
      const again = yield* create("ada", "My Camera")
      assert.strictEqual(again.hostname, hostname)
      yield* has(hostname, "records")
      const { accounts } = yield* account("ada")
      yield* accounts.remove({ payload: { confirm: "DELETE" } })
      yield* has(hostname, "nothing")
      assert.deepStrictEqual(yield* settled, [])
    })
  )

  it.effect("are made for what an operator gives out, and for no name that an owner brings", () =>
    Effect.gen(function* () {
      const { addresses } = yield* NameServer
      const { provisioning } = yield* TestServer.client
      const provide = (hostname: string) =>
        provisioning.provisionTunnel({
          headers: {},
          payload: { subject: Subject.make("bob"), name: "site", hostname: host(hostname) }
        })
      const own = yield* create("bob", "post", "post.zone.test")
      yield* provide("given.zone.test")
      yield* provide("given.elsewhere.test")
      yield* has("given.zone.test", "records")
      assert.deepStrictEqual(yield* settled, ["given.elsewhere.test", "given.zone.test"])
      assert.deepStrictEqual([...addresses.keys()].toSorted(), ["given.zone.test A", "given.zone.test AAAA"])
      yield* remove("bob", own.id)
      for (const { id } of yield* Effect.flatMap(account("bob"), ({ tunnels }) => tunnels.list({ query: {} }))) {
        yield* remove("bob", id)
      }
      yield* has("given.zone.test", "nothing")
      assert.deepStrictEqual(yield* settled, [])
    })
  )

  it.effect("are repeated until the name server takes them, and are not left behind by what went meanwhile", () =>
    Effect.gen(function* () {
      const { behave } = yield* NameServer
      yield* behave("refusing")
      const kept = yield* create("cleo", "kept")
      const gone = yield* create("cleo", "gone")
      yield* until(rows, (found) => found.length === 2 && found.every(({ dueAt }) => (dueAt ?? 0) > 0))
      yield* remove("cleo", gone.id)
      yield* behave("well")
      yield* has(kept.hostname, "records")
      assert.deepStrictEqual<ReadonlyArray<string | null>>(yield* settled, [kept.hostname])
      yield* has(gone.hostname, "nothing")

      const elsewhere = { ...(yield* variables), CT_CP_DNS_EDGE_IP: "198.51.100.1" }
      yield* Layer.build(TestServer.replica(elsewhere))
      const { addresses } = yield* NameServer
      yield* until(
        Effect.sync(() => addresses.get(`${kept.hostname} A`)?.join()),
        (found) => found === "c6336401"
      )
    }).pipe(Effect.scoped)
  )
})
