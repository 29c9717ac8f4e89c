import { until } from "@catenet/testing/Eventually"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"

const budget = { CT_CP_UNAUTH_WRITE_PER_MIN: "2" }
const signature = Buffer.from("0d0a0d0a000d0a515549540a", "hex")

/** The header with which a proxy passes a client on. */
const proxied = (address: string) => {
  const v6 = address.includes(":")
  const width = v6 ? 16 : 4
  const source = Buffer.alloc(width)
  if (v6) {
    const [left = "", right = ""] = address.split("::")
    left.split(":").forEach((word, at) => source.writeUInt16BE(Number.parseInt(word, 16), at * 2))
    if (right !== "") source.writeUInt16BE(Number.parseInt(right, 16), 14)
  } else source.set(address.split(".").map(Number))
  const block = Buffer.concat([source, Buffer.alloc(width), Buffer.from([0, 1, 0, 2])])
  return Buffer.concat([signature, Buffer.from([0x21, v6 ? 0x21 : 0x11, 0, block.length]), block])
}

/** What a sign-in is answered that begins on a connection of its own with these bytes and headers. */
const signIn = (before: Buffer, headers: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(TestServer.baseUrl, (url) =>
    Effect.callback<string>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1")
      let text = ""
      const lines = Object.entries({ host: "x", connection: "close", ...headers }).map((each) => each.join(": "))
      const whole = Buffer.concat([before, Buffer.from(`GET /portal/login HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`)])
      // In two pieces, of which the first may end within the header.
      socket.write(whole.subarray(0, 9))
      setTimeout(() => socket.write(whole.subarray(9)), 10)
      socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk))
      socket.on("error", () => {}).on("close", () => resume(Effect.succeed(text.slice(9, 12))))
    })
  )

const none = Buffer.alloc(0)
const over = "429"
/** There is no provider here to sign in at; the budget is asked before that. */
const within = "503"

/** Budgets are of a minute of the clock, and both tests are about the same one. */
const earlyInMinute = until(Clock.currentTimeMillis, (now) => now % 60_000 < 55_000)

const strict = TestServer.layer(budget)

layer(strict, { excludeTestServices: true, timeout: "60 seconds" })("the client's address", (it) => {
  it.effect("is the connection's where no proxy is trusted, whatever a client writes", () =>
    Effect.gen(function* () {
      yield* earlyInMinute
      const said = yield* Effect.forEach(["1.1.1.1", "2.2.2.2", "3.3.3.3"], (address) =>
        signIn(none, { "x-forwarded-for": address, forwarded: `for=${address}` })
      )
      assert.deepStrictEqual(said, [within, within, over])
      assert.strictEqual(yield* signIn(proxied("4.4.4.4")), "400")
    })
  )

  const askerAt = (variables: Readonly<Record<string, string>>) =>
    Effect.map(Layer.build(TestServer.replica({ ...budget, ...variables })), (context) => {
      const on = Effect.provideService(HttpServer.HttpServer, Context.get(context, HttpServer.HttpServer))
      return (asked: ReadonlyArray<readonly [Buffer, Record<string, string>?]>) =>
        on(Effect.forEach(asked, ([before, headers]) => signIn(before, headers)))
    })

  it.effect("is not what a client wrote behind a proxy that should speak PROXY v2 and only copies bytes", () =>
    Effect.gen(function* () {
      const all = yield* askerAt({ CT_CP_TRUSTED_PROXIES: "127.0.0.1" })
      const said = yield* all(
        ["21.1.1.1", "21.2.2.2", "21.3.3.3"].map((client) => [none, { "x-forwarded-for": client }] as const)
      )
      assert.include(said, over)
    }).pipe(Effect.scoped)
  )

  it.effect("is what a trusted proxy says by PROXY v2, and IPv6 counts by /64", () =>
    Effect.gen(function* () {
      const all = yield* askerAt({ CT_CP_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" })
      const client = proxied("198.51.100.1")
      const spoofed = { "x-forwarded-for": "9.9.9.9" }
      assert.deepStrictEqual(
        yield* all([[client], [client, spoofed], [client, spoofed], [proxied("198.51.100.2")]]),
        [within, within, over, within],
        "what a client writes behind PROXY v2 counts for nothing"
      )
      assert.deepStrictEqual(
        yield* all([[proxied("2001:db8:1:1::1")], [proxied("2001:db8:1:1::2")], [proxied("2001:db8:1:1::3")]]),
        [within, within, over],
        "one customer has the whole /64"
      )
      assert.deepStrictEqual(yield* all([[proxied("2001:db8:1:2::1")]]), [within])
    }).pipe(Effect.scoped)
  )

  it.effect("is what a forwarding proxy writes, also where PROXY v2 names that proxy as the client", () =>
    Effect.gen(function* () {
      const all = yield* askerAt({ CT_CP_TRUSTED_PROXIES: "127.0.0.1", CT_CP_FORWARDING_PROXIES: "10.0.0.0/8" })
      const behind = (client: string) => [proxied("10.0.0.7"), { "x-forwarded-for": client }] as const
      assert.deepStrictEqual(
        yield* all([
          behind("198.51.100.31"),
          behind("198.51.100.31"),
          behind("198.51.100.31"),
          behind("198.51.100.32")
        ]),
        [within, within, over, within]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("is what a forwarding proxy writes, by either header", () =>
    Effect.gen(function* () {
      const all = yield* askerAt({ CT_CP_FORWARDING_PROXIES: "127.0.0.1, 10.0.0.0/8" })
      const listed = (list: string) => [none, { "x-forwarded-for": list }] as const
      assert.deepStrictEqual(
        yield* all([listed("6.6.6.6, 203.0.113.1"), listed("7.7.7.7, 203.0.113.1, 10.0.0.1"), listed("203.0.113.1")]),
        [within, within, over],
        "read from the right, past trusted proxies"
      )
      assert.deepStrictEqual(
        yield* all([
          [none, { forwarded: 'for="[2001:db8:2::1]:4711";proto=https' }],
          [none, { forwarded: 'for=5.5.5.5, FOR="[2001:db8:2::2]";by=10.0.0.1' }],
          [none, { forwarded: 'proto=https;for="[2001:db8:2::3]"' }]
        ]),
        [within, within, over]
      )
      const both = (one: string, other: string) =>
        [none, { "x-forwarded-for": one, forwarded: `for=${other}` }] as const
      assert.deepStrictEqual(
        yield* all([
          both("203.0.113.9", "203.0.113.9"),
          both("203.0.113.9", "203.0.113.8"),
          both("203.0.113.9", "203.0.113.7"),
          both("203.0.113.9", "203.0.113.9"),
          listed("unknown")
        ]),
        [within, over, over, within, over],
        "headers that disagree, or name no one, leave the proxy's own address, whose budget is spent"
      )
    }).pipe(Effect.scoped)
  )
})
