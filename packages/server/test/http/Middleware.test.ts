import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"

const problemOf = (response: Response) => Effect.promise(() => response.json() as Promise<Record<string, unknown>>)

/** What the server answers to bytes that no client library would send. */
const answerTo = (bytes: string) =>
  Effect.flatMap(TestServer.baseUrl, (url) =>
    Effect.callback<string>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => socket.write(bytes))
      let answer = ""
      socket.setEncoding("utf8").on("data", (text: string) => (answer += text))
      socket.on("close", () => resume(Effect.succeed(answer)))
    })
  )

layer(TestServer.layer(), { excludeTestServices: true, timeout: "60 seconds" })("the shell", (it) => {
  it.effect("names every request and keeps a well-formed name", () =>
    Effect.gen(function* () {
      const first = yield* TestServer.raw("/healthz")
      const second = yield* TestServer.raw("/healthz")
      assert.strictEqual(first.status, 200)
      assert.notStrictEqual(first.headers.get("x-request-id"), second.headers.get("x-request-id"))
      const given = yield* TestServer.raw("/healthz", { headers: { "x-request-id": "from-proxy-1" } })
      assert.strictEqual(given.headers.get("x-request-id"), "from-proxy-1")
      const hostile = yield* TestServer.raw("/healthz", { headers: { "x-request-id": "a b\t<c>" } })
      assert.notStrictEqual(hostile.headers.get("x-request-id"), "a b\t<c>")
    })
  )

  it.effect("lets go of who asks to upgrade behind another request", () =>
    Effect.gen(function* () {
      const get = "GET /healthz HTTP/1.1\r\nHost: a\r\n"
      const wish = "Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
      assert.match(yield* answerTo(`${get}\r\n${get}${wish}\r\n`), /^HTTP\/1.1 200 [^]*HTTP\/1.1 200 /)
    })
  )

  it.effect("sets the security headers on answers and on refusals", () =>
    Effect.gen(function* () {
      for (const path of ["/status", "/nowhere"]) {
        const { headers } = yield* TestServer.raw(path)
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.include(headers.get("content-security-policy") ?? "", "default-src 'none'")
      }
    })
  )

  it.effect("answers 404, 405 with Allow, 413, 415, 400 and 422 as problems", () =>
    Effect.gen(function* () {
      const json = { "content-type": "application/json" }
      const redeem = (init: RequestInit) => TestServer.raw("/enroll/redeem", { method: "POST", headers: json, ...init })
      const cases = [
        [yield* TestServer.raw("/nowhere"), 404, "RouteNotFound"],
        [yield* TestServer.raw("/status", { method: "DELETE" }), 405, "MethodNotAllowed"],
        [yield* redeem({ body: "x".repeat(2 * 1024 * 1024 + 1) }), 413, "BodyTooLarge"],
        [yield* redeem({ body: "a=b", headers: { "content-type": "text/plain" } }), 415, "UnsupportedMediaType"],
        [yield* redeem({ body: "{" }), 400, "MalformedRequest"],
        [yield* redeem({ body: "{}" }), 422, "WrongShape"]
      ] as const
      for (const [response, status, code] of cases) {
        assert.strictEqual(response.status, status, code)
        assert.strictEqual(response.headers.get("content-type"), "application/problem+json", code)
        assert.deepInclude(yield* problemOf(response), { status, code })
      }
      assert.strictEqual(cases[1][0].headers.get("allow"), "GET, HEAD, OPTIONS")
    })
  )

  it.effect("refuses what is no HTTP, and headers without end", () =>
    Effect.gen(function* () {
      assert.match(
        yield* answerTo("\x16\x03\x01\x00\x05hello\r\n\r\n"),
        /^HTTP\/1.1 400 [^]*problem\+json[^]*"code":"NotHttp"/
      )
      const endless = `GET / HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}\r\n\r\n`
      assert.match(yield* answerTo(endless), /^HTTP\/1.1 431 [^]*problem\+json[^]*"code":"HeadersTooLarge"/)
      const smuggled =
        "POST /enroll/redeem HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
      assert.match(yield* answerTo(smuggled), /^HTTP\/1.1 400 /)
    })
  )

  it.effect("describes the API for programs and for people, without foreign resources", () =>
    Effect.gen(function* () {
      const openApi = yield* TestServer.raw("/openapi.json")
      const document = yield* problemOf(openApi)
      assert.property(document["paths"], "/enroll/redeem")
      const page = yield* TestServer.raw("/docs")
      const html = yield* Effect.promise(() => page.text())
      assert.include(html, "/enroll/redeem")
      const resources = Array.from(
        html.matchAll(/<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"/g),
        ([, at]) => at
      )
      assert.isNotEmpty(resources)
      for (const at of resources) assert.match(at ?? "", /^(?:data:.*|\/portal\/static\/[\w.-]+)$/)
      assert.notMatch(html, /<script(?! type="module" src=)|\son\w+=/)
      const policy = page.headers.get("content-security-policy") ?? ""
      assert.match(policy, /^default-src 'none'; /)
      assert.notMatch(policy, /https?:|unsafe|\*/)
    })
  )
})
