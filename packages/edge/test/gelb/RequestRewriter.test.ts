import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { RequestRewriter } from "@catenet/edge/gelb/RequestRewriter"

const visitor = { address: "203.0.113.7", hostname: "app.example.test" }
const rewriting = () => new RequestRewriter(visitor, ({ upgrade }) => upgrade)
const added =
  "X-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: app.example.test\r\n" +
  'Forwarded: for=203.0.113.7;host="app.example.test";proto=https\r\n\r\n'

/** Feeds a text in pieces of `size` bytes; the text that comes out, or the status of the refusal. */
const feed = (text: string, size = text.length || 1): string | number => {
  const rewriter = rewriting()
  let out = ""
  for (let at = 0; at < text.length; at += size) {
    const result = rewriter.push(Buffer.from(text.slice(at, at + size), "latin1"))
    if (Result.isFailure(result)) return result.failure.status
    out += Buffer.concat(result.success).toString("latin1")
  }
  return out
}

const get = "GET / HTTP/1.1\r\nHost: app.example.test\r\n"

describe("RequestRewriter", () => {
  it("adds the visitor to a request", () => {
    assert.strictEqual(feed(`${get}\r\n`), `${get}${added}`)
  })

  it("replaces what a visitor says about itself", () => {
    const spoofed = `${get}X-Forwarded-For: 127.0.0.1\r\nforwarded: for=localhost\r\nX-Real-Ip: 1.1.1.1\r\nAccept: */*\r\n\r\n`
    assert.strictEqual(feed(spoofed), `${get}Accept: */*\r\n${added}`)
  })

  it("follows keep-alive through bodies of both kinds, at every segmentation", () => {
    const post = "POST /a HTTP/1.1\r\nHost: app.example.test\r\nContent-Length: 14\r\n"
    const put = "PUT /b HTTP/1.1\r\nHost: app.example.test:8443\r\nTransfer-Encoding: chunked\r\n"
    const chunks = "b;x=1\r\nGET / HTTP/\r\n1\r\n.\r\n0\r\nTrailer: yes\r\n\r\n"
    const text = `${post}\r\nGET / HTTP/1.1${put}\r\n${chunks}${get}\r\n`
    const expected = `${post}${added}GET / HTTP/1.1${put}${added.replaceAll("app.example.test", "app.example.test:8443")}${chunks}${get}${added}`
    for (let size = 1; size <= text.length; size++) assert.strictEqual(feed(text, size), expected)
  })

  it("leaves what does not begin like HTTP as it is", () => {
    const bytes = "\x10\x10\x00\x04MQTT\r\n\r\nGET / HTTP/1.1\r\n\r\n"
    assert.strictEqual(feed(bytes, 3), bytes)
  })

  it("refuses what two parsers could read differently", () => {
    const refusals: ReadonlyArray<readonly [string, number]> = [
      [`${get}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
      [`${get}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
      [`${get}Content-Length: +1\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: gzip, chunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding : chunked\r\n\r\n`, 400],
      [`${get} folded: yes\r\n\r\n`, 400],
      [`${get}X: a\nContent-Length: 3\r\n\r\n`, 400],
      [`${get}Host: other.example.test\r\n\r\n`, 400],
      ["GET / HTTP/1.1\r\nHost: other.example.test\r\n\r\n", 421],
      ["CONNECT a:1 HTTP/1.1\r\n\r\n", 405],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
      ["get /\r\n\r\n", 400],
      [`${get}X: ${"a".repeat(70_000)}`, 431],
      [`${get}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
      [`${get}Transfer-Encoding: chunked\r\n\r\n1\r\nabc`, 400]
    ]
    for (const [text, status] of refusals) assert.strictEqual(feed(text), status, JSON.stringify(text.slice(0, 90)))
  })

  it("holds everything behind a request to upgrade until the origin has answered", () => {
    const fields = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n"
    const upgrade = `${get}${fields}`
    for (const [accepted, rest] of [
      [true, "\x81\x05hello"],
      [false, `${get}${added}`]
    ] as const) {
      const rewriter = rewriting()
      const first = rewriter.push(Buffer.from(`${upgrade}\r\n${accepted ? rest : `${get}\r\n`}`, "latin1"))
      assert.isTrue(rewriter.held)
      assert.strictEqual(Buffer.concat(Result.getOrThrow(first)).toString("latin1"), `${upgrade}${added}`)
      const second = rewriter.answered(accepted)
      assert.strictEqual(Buffer.concat(Result.getOrThrow(second)).toString("latin1"), rest)
    }
  })

  it("follows an upgrade of a later request, and lets its body through before it holds", () => {
    const fields = "Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n"
    const rewriter = rewriting()
    const say = (text: string) =>
      Buffer.concat(Result.getOrThrow(rewriter.push(Buffer.from(text, "latin1")))).toString("latin1")
    assert.strictEqual(say(`${get}\r\n${get}${fields}\r\nbo`), `${get}${added}${get}${fields}${added}bo`)
    assert.isFalse(rewriter.held)
    assert.strictEqual(say("dy\x00raw"), "dy")
    assert.isTrue(rewriter.held)
    assert.strictEqual(Buffer.concat(Result.getOrThrow(rewriter.answered(true))).toString("latin1"), "\x00raw")
    assert.strictEqual(say("GET"), "GET")
  })

  it("goes on at once when the origin answered before the request was whole", () => {
    for (const [accepted, out] of [
      [true, "body\x00"],
      [false, "body"]
    ] as const) {
      const rewriter = rewriting()
      rewriter.push(Buffer.from(`${get}Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\n`))
      rewriter.answered(accepted)
      const rest = rewriter.push(Buffer.from("body\x00", "latin1"))
      assert.isFalse(rewriter.held)
      assert.strictEqual(Buffer.concat(Result.getOrThrow(rest)).toString("latin1"), out)
    }
  })

  it.prop("never throws, whatever arrives", [Schema.Array(Schema.Uint8Array)], ([chunks]) => {
    const rewriter = rewriting()
    for (const chunk of chunks) if (Result.isFailure(rewriter.push(Buffer.from(chunk)))) return
  })
})
