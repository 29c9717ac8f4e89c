import { Hostname } from "@catenet/domain/values/Hostname"
import { Subject } from "@catenet/domain/values/Ids"
import { eventually } from "@catenet/testing/Eventually"
import { keyName, NameServer, secret } from "@catenet/testing/server/dns/NameServer"
import { TestDatabase } from "@catenet/testing/server/TestDatabase"
import * as TestServer from "@catenet/testing/server/TestServer"
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"

const server = Layer.unwrap(
  Effect.map(NameServer, ({ port }) =>
    TestServer.layer({
      CT_CP_DNS_UPDATE_SERVER: `127.0.0.1:${port}`,
      CT_CP_DNS_UPDATE_ZONE: "zone.test.",
      CT_CP_DNS_UPDATE_KEY_NAME: keyName,
      CT_CP_DNS_UPDATE_KEY: secret.toString("base64"),
      CT_CP_DNS_TIMEOUT_SECS: "3"
    })
  )
).pipe(Layer.provideMerge(NameServer.layer))

/** A tunnel whose hostname may issue now, or not. */
const tunnel = (hostname: string, mayIssue: boolean) =>
  Effect.gen(function* () {
    const { provisioning } = yield* TestServer.client
    const { routing_token } = yield* provisioning.provisionTunnel({
      headers: {},
      payload: { subject: Subject.make("owner"), name: "site", hostname: Schema.decodeSync(Hostname)(hostname) }
    })
    const { url } = yield* TestDatabase
    if (mayIssue) {
      yield* Effect.provide(
        SqlClient.SqlClient.use(
          (sql) => sql`update hosts set claim = 'offered', queued_at = null, ca = 'letsencrypt', deadline = 9999999999
            where hostname = ${hostname}`
        ),
        PgClient.layer({ url })
      )
    }
    return Redacted.value(routing_token)
  })

const post = (path: string, body: Record<string, string>) =>
  Effect.gen(function* () {
    const headers = { "content-type": "application/json" }
    const response = yield* TestServer.raw(path, { method: "POST", headers, body: JSON.stringify(body) })
    const text = yield* Effect.promise(() => response.text())
    return { status: response.status, code: text === "" ? undefined : JSON.parse(text).code, response }
  })
const set = (token: string, hostname: string, value = "abc-DEF_123") =>
  post("/agent/dns01-challenge", { token, hostname, value })
const clear = (token: string, hostname: string) => post("/agent/dns01-challenge/clear", { token, hostname })

layer(server, { excludeTestServices: true, timeout: "60 seconds" })("the DNS-01 broker, by dynamic update", (it) => {
  it.effect("publishes a challenge, waits until it is seen, replaces it and takes it away", () =>
    Effect.gen(function* () {
      const { texts } = yield* NameServer
      const token = yield* tunnel("a.zone.test", true)
      const name = "_acme-challenge.a.zone.test"
      assert.strictEqual((yield* set(token, "A.zone.test.")).status, 200)
      assert.strictEqual(texts.get(name), "abc-DEF_123")
      assert.strictEqual((yield* set(token, "a.zone.test", "second")).status, 200)
      assert.strictEqual(texts.get(name), "second")
      assert.strictEqual((yield* clear(token, "a.zone.test")).status, 200)
      assert.isFalse(texts.has(name))
      assert.strictEqual((yield* clear(token, "a.zone.test")).status, 200)
    })
  )

  it.effect("serves only the owner of a hostname, and only when it may issue", () =>
    Effect.gen(function* () {
      const { texts } = yield* NameServer
      const token = yield* tunnel("b.zone.test", false)
      const other = yield* tunnel("c.zone.test", true)
      const wrong = "0".repeat(64)
      const cases = [
        [yield* set(token, "unknown.zone.test"), 404, "HostnameUnknown"],
        [yield* set(wrong, "b.zone.test"), 403, "NotHostnameOwner"],
        [yield* set(other, "b.zone.test"), 403, "NotHostnameOwner"],
        [yield* set(token, "b.zone.test"), 425, "NotAdmitted"],
        [yield* clear(other, "b.zone.test"), 403, "NotHostnameOwner"],
        [yield* clear(token, "unknown.zone.test"), 403, "NotHostnameOwner"],
        [yield* set(other, "c.zone.test", "x".repeat(256)), 400, "MalformedRequest"]
      ] as const
      for (const [{ code, status }, ...expected] of cases) assert.deepStrictEqual([status, code], expected)
      assert.strictEqual(texts.size, 0)
    })
  )

  it.effect(
    "says what went wrong: the zone is not ours, the server refuses, lies, is silent, or does not show it",
    () =>
      Effect.gen(function* () {
        const { behave } = yield* NameServer
        const outside = yield* tunnel("a.elsewhere.test", true)
        assert.deepInclude(yield* set(outside, "a.elsewhere.test"), { status: 502, code: "DnsProviderFailed" })
        const token = yield* tunnel("d.zone.test", true)
        for (const [how, status, code] of [
          ["refusing", 502, "DnsProviderFailed"],
          ["unsigned", 502, "DnsProviderFailed"],
          ["hidden", 504, "DnsNotConverged"],
          ["silent", 502, "DnsProviderFailed"]
        ] as const) {
          yield* behave(how)
          assert.deepInclude(yield* set(token, "d.zone.test"), { status, code }, how)
        }
        yield* behave("well")
      })
  )

  it.effect("waits for a bounded number of challenges, and answers the others when to come again", () =>
    Effect.gen(function* () {
      const { behave } = yield* NameServer
      const token = yield* tunnel("e.zone.test", true)
      yield* behave("hidden")
      const answers = yield* Effect.forEach(
        Array.from({ length: 40 }, (_, n) => n),
        () => set(token, "e.zone.test"),
        { concurrency: "unbounded" }
      )
      yield* behave("well")
      const busy = answers.filter(({ status }) => status === 503)
      assert.strictEqual(busy.length, 8)
      assert.strictEqual(answers.filter(({ status }) => status === 504).length, 32)
      for (const { code, response } of busy) {
        assert.strictEqual(code, "DnsBusy")
        assert.strictEqual(response.headers.get("retry-after"), "5")
      }
      assert.strictEqual((yield* set(token, "e.zone.test")).status, 200)
    })
  )

  it.effect("has the tunnel that waits for most of them make room for another one", () =>
    Effect.gen(function* () {
      const { behave } = yield* NameServer
      const large = yield* tunnel("f.zone.test", true)
      const small = yield* tunnel("g.zone.test", true)
      yield* behave("hidden")
      let busy = 0
      const one = Effect.tap(set(large, "f.zone.test"), ({ status }) =>
        Effect.sync(() => (busy += Number(status === 503)))
      )
      const all = yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.forkScoped(one))
      yield* Effect.promise(() => eventually(() => busy === 8, "all places are taken"))
      const modest = yield* Effect.forkScoped(set(small, "g.zone.test"))
      yield* Effect.promise(() => eventually(() => busy === 9, "one of the larger tunnel's makes room"))
      yield* behave("well")
      assert.strictEqual((yield* Fiber.join(modest)).status, 200)
      yield* Effect.forEach(all, Fiber.join)
      assert.strictEqual(busy, 9)
    }).pipe(Effect.scoped)
  )
})

const program = `#!${process.execPath}
let line = ""
process.stdin.on("data", (chunk) => (line += chunk)).on("end", async () => {
  const { status } = await fetch(process.env.SINK, { method: "POST", body: line })
  process.exit(status === 200 ? 0 : 1)
})
`

/** A command that hands each change to this process, which shows it in the name server. */
const hooked = Layer.unwrap(
  Effect.gen(function* () {
    const { port, texts } = yield* NameServer
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "catenet-hook-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
    )
    const sink = createServer(async (request, response) => {
      const { name, type, values, zone } = JSON.parse(await text(request))
      if (type !== "TXT" || zone !== "zone.test") return response.writeHead(400).end()
      if (values.length === 0) texts.delete(name)
      else texts.set(name, values[0])
      return response.end()
    })
    yield* Effect.promise(() => new Promise<void>((resolve) => sink.listen(0, "127.0.0.1", resolve)))
    yield* Effect.addFinalizer(() => Effect.sync(() => (sink.closeAllConnections(), sink.close())))
    writeFileSync(join(folder, "hook"), program, { mode: 0o700 })
    return TestServer.layer({
      CT_CP_DNS_EXEC: join(folder, "hook"),
      CT_CP_DNS_EXEC_ZONE: "zone.test",
      CT_CP_DNS_EXEC_ENV: `# where it is to go\nSINK=http://127.0.0.1:${(sink.address() as AddressInfo).port}\n`,
      CT_CP_DNS_AUTHORITATIVE: `127.0.0.1:${port}`
    })
  })
).pipe(Layer.provideMerge(NameServer.layer))

layer(hooked, { excludeTestServices: true, timeout: "60 seconds" })("the DNS-01 broker, by a command", (it) => {
  it.effect("publishes a challenge, waits until it is seen, and takes it away", () =>
    Effect.gen(function* () {
      const { texts } = yield* NameServer
      const token = yield* tunnel("a.zone.test", true)
      assert.strictEqual((yield* set(token, "a.zone.test")).status, 200)
      assert.strictEqual(texts.get("_acme-challenge.a.zone.test"), "abc-DEF_123")
      assert.strictEqual((yield* clear(token, "a.zone.test")).status, 200)
      assert.isFalse(texts.has("_acme-challenge.a.zone.test"))
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("without a DNS back end", (it) => {
  it.effect("there is no broker", () =>
    Effect.gen(function* () {
      const token = yield* tunnel("a.zone.test", true)
      assert.deepInclude(yield* set(token, "a.zone.test"), { status: 404, code: "RouteNotFound" })
      assert.deepInclude(yield* post("/agent/dns01-challenge", {}), { status: 404, code: "RouteNotFound" })
      assert.deepInclude(yield* clear(token, "a.zone.test"), { status: 404, code: "RouteNotFound" })
    })
  )
})
