import type { AlertFormat } from "@catenet/domain/tunnels/AlertFormat"
import { until } from "@catenet/testing/Eventually"
import { database } from "@catenet/testing/server/Accounts"
import { TestIssuer } from "@catenet/testing/server/TestIssuer"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { FactsEdge } from "../records/FactsEdge.ts"
import { account, tunnel, variables } from "../records/FactsServer.ts"
import { alerted, dueAt, looks, pretend, server, ticking } from "./AlertingServer.ts"
import { type Arrival, isSigned, Receiver } from "./Receiver.ts"

const bodyOf = ({ body }: Arrival) => JSON.parse(body) as Record<string, unknown>

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("alerts", (it) => {
  it.effect("say once that a tunnel is gone and once that it is back, watched by three replicas", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const receiver = yield* Receiver
      const { issuer } = yield* TestIssuer
      const settings = { ...variables, ...ticking, CT_OIDC_ISSUER: issuer, CT_CP_EDGE_ADMIN_URL: edge.url }
      yield* Layer.build(Layer.merge(TestServer.replica(settings), TestServer.replica(settings)))
      const alerts = yield* Effect.forEach(["a", "b", "c", "d"], (called) => alerted("ada", called, `/${called}`))
      const [first] = alerts
      assert(first !== undefined)
      yield* Effect.forEach(alerts, ({ token }) => edge.tunnel(token, { connected: false }))
      yield* Effect.forEach(alerts, ({ id }) => pretend(id, 90))

      for (const { id, path, secret } of alerts) {
        const [down] = yield* receiver.arrived(path, 1)
        assert(down !== undefined)
        assert.isTrue(isSigned(down, secret))
        assert.strictEqual(down.headers["content-type"], "application/json")
        const message = bodyOf(down)
        assert.deepStrictEqual(Object.keys(message), [
          "event",
          "tunnel_id",
          "name",
          "since",
          "threshold_secs",
          "sent_at"
        ])
        assert.deepInclude(message, { event: "tunnel.down", tunnel_id: id, threshold_secs: 60 })
        assert.strictEqual(String(message["sent_at"]), down.headers["x-ct-timestamp"])
      }

      yield* Effect.forEach(alerts, ({ token }) =>
        edge.tunnel(token, { sessions: [{ connected_at: 1000, disconnected_at: null }] })
      )
      for (const { path } of alerts) {
        const arrivals = yield* receiver.arrived(path, 2)
        assert.strictEqual(bodyOf(arrivals.at(-1)!)["event"], "tunnel.up")
      }
      yield* looks(first.token, 3)
      assert.deepStrictEqual(
        alerts.map(({ path }) => receiver.arrivals(path).length),
        [2, 2, 2, 2]
      )
      const { tunnelControls } = yield* account("ada")
      const log = yield* tunnelControls.listDeliveries({ params: { id: first.id }, query: {} })
      assert.deepStrictEqual(
        log.map(({ event, status, detail }) => [event, status, detail]),
        [
          ["tunnel.up", "ok", "delivered"],
          ["tunnel.down", "ok", "delivered"]
        ]
      )
      assert.strictEqual((yield* tunnelControls.getAlert({ params: { id: first.id } })).state, "up")
    }).pipe(Effect.scoped)
  )

  it.effect("fire for a tunnel whose agent is connected and whose origin is silent, with the same body", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const receiver = yield* Receiver
      const { id, path, token } = yield* alerted("fin", "dead", "/dead-origin")
      const session = { connected_at: 1000, disconnected_at: null }
      const reach = { state: "up", since: 1000, origin: null, fault: null, http_status: null } as const
      yield* edge.tunnel(token, { connected: true, sessions: [session], reach: { ...reach, state: "origin_silent" } })
      yield* pretend(id, 90)
      const [down] = yield* receiver.arrived(path, 1)
      assert(down !== undefined)
      assert.deepInclude(bodyOf(down), { event: "tunnel.down", tunnel_id: id, threshold_secs: 60 })
      assert.strictEqual(Object.keys(bodyOf(down)).length, 6)
      yield* edge.tunnel(token, { connected: true, sessions: [session], reach })
      const arrivals = yield* receiver.arrived(path, 2)
      assert.strictEqual(bodyOf(arrivals.at(-1)!)["event"], "tunnel.up")
    })
  )

  it.effect("never call a tunnel down whose edge is silent", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id } = yield* alerted("bea", "quiet", "/quiet")
      const { token } = yield* alerted("bea", "control", "/control")
      yield* edge.away(true)
      yield* pretend(id, 90)
      const taken = dueAt(id)
      const first = yield* taken
      yield* until(taken, (due) => due >= first + 3, "100 millis")
      const { tunnelControls } = yield* account("bea")
      assert.strictEqual((yield* tunnelControls.getAlert({ params: { id } })).state, "unknown")
      yield* edge.away(false)
      yield* edge.tunnel(token, { connected: true })
      yield* (yield* Receiver).arrived("/quiet", 1)
    })
  )

  it.effect("keep the secret over a replacement, and make a new one after a deletion", () =>
    Effect.gen(function* () {
      const { url } = yield* Receiver
      const { id, secret } = yield* alerted("cleo", "cam", "/cleo")
      const { tunnelControls } = yield* account("cleo")
      const params = { id }
      const payload = { webhook_url: `${url}/cleo-2`, threshold_minutes: 10 }
      const replaced = yield* tunnelControls.saveAlert({ params, payload })
      assert.isUndefined(replaced.secret)
      assert.strictEqual(replaced.alert.threshold_minutes, 10)
      assert.strictEqual((yield* tunnelControls.testAlert({ params })).status, "ok")
      const [sent] = yield* (yield* Receiver).arrived("/cleo-2", 1)
      assert(sent !== undefined)
      assert.isTrue(isSigned(sent, secret))
      assert.strictEqual(bodyOf(sent)["event"], "tunnel.test")
      yield* tunnelControls.removeAlert({ params })
      const again = yield* tunnelControls.saveAlert({ params, payload })
      assert(again.secret !== undefined)
      assert.notStrictEqual(Redacted.value(again.secret), secret)
    })
  )

  it.effect("speak to chats and push services in their form, with a token that stays and is not shown", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const { id } = yield* tunnel("iva", "cam")
      const { tunnelControls } = yield* account("iva")
      const params = { id }
      const room = "/_matrix/client/v3/rooms/!a:m.example/send/m.room.message"
      const says = Effect.fnUntraced(function* (format: AlertFormat, path: string, token?: string) {
        const payload = { webhook_url: `${receiver.url}${path}`, threshold_minutes: 5, format }
        const named = token === undefined ? payload : { ...payload, token: Redacted.make(token) }
        const { alert } = yield* tunnelControls.saveAlert({ params, payload: named })
        assert.deepStrictEqual(Object.keys(alert), ["webhook_url", "threshold_minutes", "format", "state", "since"])
        return (yield* tunnelControls.testAlert({ params })).status
      })
      const last = (path: string) => Effect.map(receiver.arrived(path, 1), (all) => all.at(-1)!)
      assert.strictEqual(yield* says("slack", "/iva-slack"), "ok")
      assert.match(String(bodyOf(yield* last("/iva-slack"))["text"]), /^This is a test of the alert of cam\. http/)
      assert.strictEqual(yield* says("ntfy", "/iva-topic", "tk_1"), "ok")
      assert.strictEqual(yield* says("ntfy", "/iva-topic"), "ok")
      const [first, second] = yield* receiver.arrived("/", 2)
      assert.deepStrictEqual(
        [first!.headers["authorization"], second!.headers["authorization"]],
        ["Bearer tk_1", "Bearer tk_1"]
      )
      assert.strictEqual((yield* Effect.flip(says("matrix", room)))._tag, "AlertRefused")
      assert.strictEqual(yield* says("matrix", room, "syt_1"), "ok")
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ receiverToken: string }>`select receiver_token from alerts where tunnel_id = ${id}`
      assert.match(row!.receiverToken, /^s1\./)
      assert.strictEqual(yield* says("signed", "/iva-signed"), "ok")
      assert.isUndefined((yield* last("/iva-signed")).headers["authorization"])
    }).pipe(Effect.provide(Layer.fresh(database)))
  )

  it.effect("are delivered twenty times an hour for an account, however many ask at once", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const { id } = yield* alerted("dan", "one", "/dan")
      const other = yield* alerted("dan", "two", "/dan-2")
      yield* receiver.answer("/dan", 500, 500)
      const { tunnelControls } = yield* account("dan")
      const results = yield* Effect.all(
        Array.from({ length: 30 }, () => Effect.result(tunnelControls.testAlert({ params: { id } }))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(results.filter((result) => result._tag === "Success").length, 20)
      assert.strictEqual(receiver.arrivals("/dan").length, 20)
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "DeliveryBudgetSpent")
      }
      const spent = yield* Effect.flip(tunnelControls.testAlert({ params: { id: other.id } }))
      assert.strictEqual(spent._tag, "DeliveryBudgetSpent")

      // What is due while the budget is spent is written down once and waits.
      yield* pretend(other.id, 90)
      const deliveries = tunnelControls.listDeliveries({ params: { id: other.id }, query: {} })
      const log = yield* until(deliveries, (lines) => lines.length > 0, "50 millis")
      assert.deepInclude(log[0], { event: "tunnel.down", status: "skipped" })
      yield* looks(other.token, 2)
      assert.strictEqual((yield* tunnelControls.listDeliveries({ params: { id: other.id }, query: {} })).length, 1)
      assert.strictEqual((yield* tunnelControls.getAlert({ params: { id: other.id } })).state, "unknown")
      assert.strictEqual(receiver.arrivals("/dan-2").length, 0)
    })
  )

  it.effect("reveal nothing about the server's own ports unless the operator allows it", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const { port } = new URL(receiver.url)
      const { id } = yield* tunnel("fay", "cam")
      const { issuer } = yield* TestIssuer
      const strict = yield* Layer.build(TestServer.replica({ ...variables, CT_OIDC_ISSUER: issuer }))
      const onStrict = Effect.provideService(HttpServer.HttpServer, Context.get(strict, HttpServer.HttpServer))
      yield* receiver.answer("/fay-500", 500)
      const urls = [
        `http://127.0.0.1:${port}/fay`,
        `http://localhost:${port}/fay`,
        `http://127.0.0.1:${port}/fay-500`,
        "http://127.0.0.1:1/closed",
        "http://[::1]:1/closed"
      ]
      const tried = Effect.flatMap(account("fay"), ({ tunnelControls }) =>
        Effect.forEach(urls, (webhook_url) =>
          tunnelControls.saveAlert({ params: { id }, payload: { webhook_url, threshold_minutes: 5 } }).pipe(
            Effect.andThen(tunnelControls.testAlert({ params: { id } })),
            Effect.map(({ detail, status }) => `${status}: ${detail}`)
          )
        )
      )
      assert.deepStrictEqual(
        yield* onStrict(tried),
        urls.map(() => "failed: refused by policy")
      )
      assert.strictEqual(receiver.arrivals("/fay").length, 0)
      assert.deepStrictEqual(yield* tried, [
        "ok: delivered",
        "ok: delivered",
        "failed: not delivered",
        "failed: not delivered",
        "failed: not delivered"
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("call no address that is not public, under any name", () =>
    Effect.gen(function* () {
      const { url } = yield* Receiver
      const { port } = new URL(url)
      const { id } = yield* tunnel("eve", "cam")
      const { tunnelControls } = yield* account("eve")
      const params = { id }
      const outcomes = yield* Effect.forEach(
        [
          `https://localhost:${port}/x`,
          `https://127.0.0.1:${port}/x`,
          `https://2130706433:${port}/x`,
          `https://[::ffff:127.0.0.1]:${port}/x`,
          "https://169.254.169.254/latest/meta-data",
          "https://10.1.2.3/x",
          "https://[fd00:ec2::254]/x"
        ],
        (webhook_url) =>
          Effect.andThen(
            tunnelControls.saveAlert({ params, payload: { webhook_url, threshold_minutes: 5 } }),
            tunnelControls.testAlert({ params })
          )
      )
      for (const { detail, status } of outcomes) {
        assert.deepStrictEqual([status, detail], ["failed", "refused by policy"])
      }
    })
  )
})
