import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as DnsBackend from "../../src/dns/DnsBackend.ts"

interface Call {
  readonly line: string
  readonly token: string | undefined
  readonly body: unknown
}

/** A service of that shape, which writes down what it is asked. */
class Service extends Context.Service<
  Service,
  { readonly base: URL; readonly calls: Array<Call>; readonly answer: (status: number) => Effect.Effect<void> }
>()("test/Desec") {
  static readonly layer = Layer.effect(
    Service,
    Effect.gen(function* () {
      const calls: Array<Call> = []
      let status = 200
      const server = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8").on("data", (text: string) => (body += text))
        request.on("end", () => {
          const line = `${request.method} ${request.url}`
          calls.push({ line, token: request.headers.authorization, body: JSON.parse(body) })
          response.writeHead(status, { "content-type": "application/json" }).end("[]")
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
        () => Effect.sync(() => (server.closeAllConnections(), server.close()))
      )
      const base = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`)
      return { base, calls, answer: (next) => Effect.sync(() => void (status = next)) }
    })
  )
}

const backEnd = Effect.flatMap(Service, ({ base }) =>
  DnsBackend.makeDesec({ base, zone: "zone.test", token: Redacted.make("t0k3n") })
).pipe(Effect.provide(FetchHttpClient.layer))

const challenge = { name: "_acme-challenge.a.zone.test", type: "TXT", values: ["x"] } as const

layer(Service.layer, { excludeTestServices: true })("the back end over HTTP", (it) => {
  it.effect("sets and empties the record set below the domain, with the token", () =>
    Effect.gen(function* () {
      const { calls } = yield* Service
      const { set } = yield* backEnd
      const name = "_acme-challenge.a.b.zone.test"
      yield* set({ name, type: "TXT", values: ['a"b\\c'] })
      yield* set({ name, type: "TXT", values: [] })
      yield* set({ name: "zone.test", type: "AAAA", values: ["2001:db8::1", "2001:db8::2"] })
      const shape = { subname: "_acme-challenge.a.b", type: "TXT", ttl: 3600 }
      const line = "PATCH /api/v1/domains/zone.test/rrsets/"
      assert.deepStrictEqual(calls, [
        { line, token: "Token t0k3n", body: [{ ...shape, records: ['"a\\"b\\\\c"'] }] },
        { line, token: "Token t0k3n", body: [{ ...shape, records: [] }] },
        {
          line,
          token: "Token t0k3n",
          body: [{ subname: "", type: "AAAA", ttl: 3600, records: ["2001:db8::1", "2001:db8::2"] }]
        }
      ])
    })
  )

  it.effect("fails where the service refuses or is away, without a word of the token", () =>
    Effect.gen(function* () {
      const { answer } = yield* Service
      const { set } = yield* backEnd
      for (const status of [400, 401, 404, 429, 500]) {
        yield* answer(status)
        const refusal = yield* Effect.flip(set(challenge))
        assert.include(refusal.message, String(status))
        assert.notInclude(refusal.message, "t0k3n")
      }
      const away = yield* DnsBackend.makeDesec({
        base: new URL("http://127.0.0.1:1/api"),
        zone: "zone.test",
        token: Redacted.make("t0k3n")
      }).pipe(Effect.provide(FetchHttpClient.layer))
      const refusal = yield* Effect.flip(away.set(challenge))
      assert.strictEqual(refusal._tag, "ChangeRefused")
    })
  )
})
