/**
 * Requests of HTTP/1.1 as they leave for an origin.
 * One file, since all cases feed the same rewriter, and compare the whole head that it writes.
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RequestRewriter } from "../../src/http1/RequestRewriter.ts"

const visitor = { address: "203.0.113.7", hostname: "app.example.test" }
const rewriting = (httpOnly = false) => new RequestRewriter(visitor, { httpOnly, asks: ({ upgrade }) => upgrade })
const added =
  "X-Request-Id: ID\r\nX-Forwarded-For: 203.0.113.7\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: app.example.test\r\n" +
  "X-Forwarded-Port: 443\r\nX-Real-IP: 203.0.113.7\r\n" +
  'Forwarded: for=203.0.113.7;host="app.example.test";proto=https\r\n\r\n'

/** With one name for every request that the proxy named. */
const anonymous = (text: string) => text.replace(/(?<=\r\nX-Request-Id: )[0-9a-f-]{36}(?=\r\n)/g, "ID")
const textOf = (pieces: ReadonlyArray<Buffer>) => anonymous(Buffer.concat(pieces).toString("latin1"))

/** Feeds a text in pieces of `size` bytes; the text that comes out, or the status of the refusal. */
const feed = (text: string, size = text.length || 1): string | number => {
  const rewriter = rewriting()
  let out = ""
  for (let at = 0; at < text.length; at += size) {
    out += Buffer.concat(rewriter.push(Buffer.from(text.slice(at, at + size), "latin1"))).toString("latin1")
    if (rewriter.refused !== undefined) return rewriter.refused.why.status
  }
  return anonymous(out)
}

const get = "GET / HTTP/1.1\r\nHost: app.example.test\r\n"

/** The chunks of the PUT as one text, whatever their sizes. */
const withoutSizes = (said: string | number): string | number => {
  if (typeof said === "number") return said
  const at = said.indexOf("\r\n\r\n", said.indexOf("PUT ")) + 4
  let rest = said.slice(at)
  let body = ""
  for (;;) {
    const line = rest.indexOf("\r\n")
    const size = Number.parseInt(rest.slice(0, line), 16)
    if (!(size > 0)) return said.slice(0, at) + body + rest
    body += rest.slice(line + 2, line + 2 + size)
    rest = rest.slice(line + 4 + size)
  }
}

describe("RequestRewriter", () => {
  it("adds the visitor to a request", () => {
    assert.strictEqual(feed(`${get}\r\n`), `${get}${added}`)
  })

  it("replaces what a visitor says about itself", () => {
    const spoofed = `${get}X-Forwarded-For: 127.0.0.1\r\nforwarded: for=localhost\r\nX-Real-Ip: 1.1.1.1\r\nAccept: */*\r\n\r\n`
    assert.strictEqual(feed(spoofed), `${get}Accept: */*\r\n${added}`)
  })

  it("drops a visitor's spelling of its fields with any character for the hyphen", () => {
    for (const mark of ["_", ".", "~", "!", "'", "|", "*"]) {
      const names = ["X-Gate-Email", "X-Forwarded-For", "X-Real-Ip", "Transfer-Encoding"]
      const said = names.map((name) => `${name.replaceAll("-", mark)}: root@example.test\r\n`).join("")
      assert.strictEqual(feed(`${get}${said}\r\n`), `${get}${added}`, mark)
    }
  })

  it("passes a visitor's name for its request on, and names it where there is none that can be passed on", () => {
    const id = (...values: ReadonlyArray<string>) => values.map((value) => `X-Request-Id: ${value}\r\n`).join("")
    const own = `${get}X-Request-Id: ${"a".repeat(200)}\r\n${added.replace("X-Request-Id: ID\r\n", "")}`
    assert.strictEqual(feed(`${get}${id("a".repeat(200))}\r\n`), own)
    for (const said of [id("a".repeat(201)), id("a b"), id("é"), id("a", "b"), "X_Request_Id: a\r\n"])
      assert.strictEqual(feed(`${get}${said}\r\n`), `${get}${added}`, said)
  })

  it("follows keep-alive through bodies of both kinds, at every segmentation", () => {
    const post = "POST /a HTTP/1.1\r\nHost: app.example.test\r\nContent-Length: 14\r\n"
    const put = "PUT /b HTTP/1.1\r\nHost: app.example.test:8443\r\nTransfer-Encoding: chunked\r\n"
    const chunks = "b;x=1\r\nGET / HTTP/\r\n01\r\n.\r\n0\r\nX-Sum:yes\t\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n"
    const written = "GET / HTTP/.0\r\nX-Sum: yes\r\n\r\n"
    const text = `${post}\r\nGET / HTTP/1.1${put}\r\n${chunks}${get}\r\n`
    const expected = `${post}${added}GET / HTTP/1.1${put}${added.replaceAll("app.example.test", "app.example.test:8443").replace("Port: 443", "Port: 8443")}${written}${get}${added}`
    for (let size = 1; size <= text.length; size++) assert.strictEqual(withoutSizes(feed(text, size)), expected)
  })

  it("writes the chunks that came in one read as one, and counts the small ones", () => {
    const put = "PUT /b HTTP/1.1\r\nHost: app.example.test\r\nTransfer-Encoding: chunked\r\n"
    const rewriter = rewriting()
    rewriter.push(Buffer.from(`${put}\r\n`))
    const said = rewriter.push(Buffer.from("1\r\na\r\n".repeat(1_000)))
    assert.strictEqual(Buffer.concat(said).toString(), `3e8\r\n${"a".repeat(1_000)}\r\n`)
    assert.lengthOf(said, 1)
    assert.deepStrictEqual([rewriter.takeCrumbs(), rewriter.takeCrumbs()], [1_000, 0])
    const last = rewriter.push(Buffer.from(`40\r\n${"b".repeat(64)}\r\n2\r\ncc\r\n0\r\n\r\n`))
    assert.strictEqual(Buffer.concat(last).toString(), `42\r\n${"b".repeat(64)}cc\r\n0\r\n\r\n`)
    assert.strictEqual(rewriter.takeCrumbs(), 2, "the two-byte chunk and the last one")
  })

  it("relays bytes that cannot begin a request unchanged, unless the tunnel serves only HTTP", () => {
    for (const first of ["\x10", "\x00", "\x16", "(", "/", "\xff", "\x80"]) {
      const bytes = `${first}\x10\x00\x04MQTT\r\n\r\nGET / HTTP/1.1\r\n\r\n`
      assert.strictEqual(feed(bytes, 3), bytes)
      const strict = rewriting(true)
      assert.isEmpty(strict.push(Buffer.from(bytes, "latin1")))
      assert.strictEqual(strict.refused?.why.status, 400)
    }
  })

  it("reads every method token as HTTP, and skips empty lines before it", () => {
    for (const method of ["-X", "_", "1", "~", "%", "!", "FROB", "get", "__proto__"]) {
      const request = `${method} /a HTTP/1.1\r\nHost: app.example.test\r\n`
      assert.strictEqual(feed(`\r\n\r\n${request}X-Forwarded-For: 6.6.6.6\r\n\r\n`, 5), `${request}${added}`)
    }
  })

  it("refuses requests that two parsers could read differently, however they are split", () => {
    const line = "GET / HTTP/1.1\r\n"
    const chunked = `${get}Transfer-Encoding: chunked\r\n\r\n`
    const refusals: ReadonlyArray<readonly [string, number]> = [
      [`${get}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
      [`${get}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400],
      [`${get}Content-Length: 1\r\nContent-Length: 1\r\n\r\n`, 400],
      [`${get}Content-Length: 1, 1\r\n\r\n`, 400],
      [`${get}Content-Length: +1\r\n\r\n`, 400],
      [`${get}Content-Length:\r\n\r\n`, 400],
      [`${get}Content-Length: \xa05\r\n\r\n`, 400],
      [`${get}Content-Length: 0x5\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: gzip, chunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: \xa0chunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: \x0bchunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: \x0cchunked\r\n\r\n`, 400],
      [`${get}Transfer-Encoding: identity\r\n\r\n`, 400],
      [`${get}Transfer-Encoding : chunked\r\n\r\n`, 400],
      ["POST / HTTP/1.0\r\nHost: app.example.test\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
      [`${get} folded: yes\r\n\r\n`, 400],
      [`${get}X: a\r\n\tfolded\r\n\r\n`, 400],
      [`${get}X: a\nContent-Length: 3\r\n\r\n`, 400],
      [`${get}X:\nX-Forwarded-For: 6.6.6.6\r\n\r\n`, 400],
      [`${get}X:\nHost: evil\r\n\r\n`, 400],
      [`${get}Content-Length: 5\r\nX:\nTransfer-Encoding: chunked\r\n\r\n`, 400],
      [`${get}X: a\rb\r\n\r\n`, 400],
      [`${get}X: a\0b\r\n\r\n`, 400],
      [`${get}X: a\x7fb\r\n\r\n`, 400],
      [`${get}X\xa0: a\r\n\r\n`, 400],
      [`${get}: a\r\n\r\n`, 400],
      [`${get}nothing\r\n\r\n`, 400],
      ["GET / HTTP/1.1\nHost: app.example.test\n\n", 400],
      ["GET / HTTP/1.1\r\nHost: app.example.test\n\r\n", 400],
      ["\nGET / HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      [" GET / HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["\xa0GET / HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["\x1cGET / HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET  / HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET\t/ HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET / HTTP/1.1 \r\nHost: app.example.test\r\n\r\n", 400],
      ["GET / HTTP/1.2\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET / http/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET /\x85 HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET /a#b HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET a HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET * HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET http://app.example.test@evil/ HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET ftp://app.example.test/ HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 400],
      ["GET http://other.example.test/ HTTP/1.1\r\nHost: app.example.test\r\n\r\n", 421],
      [`${line}\r\n`, 400],
      [`${get}Host: other.example.test\r\n\r\n`, 400],
      [`${get}Host: app.example.test\r\n\r\n`, 400],
      [`${line}Host: other.example.test\r\n\r\n`, 421],
      [`${line}Host: app.example.test, other.example.test\r\n\r\n`, 421],
      [`${line}Host: x@app.example.test\r\n\r\n`, 421],
      [`${line}Host:\r\n\r\n`, 421],
      ["CONNECT a:1 HTTP/1.1\r\n\r\n", 405],
      ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
      ["SSH-2.0-OpenSSH\r\n", 400],
      ["get /\r\n\r\n", 400],
      [`${get}X: ${"a".repeat(70_000)}`, 431],
      [`${chunked}zz\r\n`, 400],
      [`${chunked}1 \r\na`, 400],
      [`${chunked}-1\r\na`, 400],
      [`${chunked}0x1\r\na`, 400],
      [`${chunked}1\na`, 400],
      [`${chunked}1;x\ny\r\na`, 400],
      [`${chunked}1;\x01\r\na`, 400],
      [`${chunked}\r\n`, 400],
      [`${chunked}1${"0".repeat(12)}\r\n`, 400],
      [`${chunked}1;${"x".repeat(5_000)}`, 400],
      [`${chunked}1\r\nabc`, 400],
      [`${chunked}1\r\na\n0\r\n\r\n`, 400],
      [`${chunked}0\r\nX:\nY: z\r\n\r\n`, 400],
      [`${chunked}0\r\n folded\r\n\r\n`, 400],
      [`${chunked}0\r\n${"X: aaaaaaaaaaaaaaaa\r\n".repeat(1_000)}\r\n`, 400]
    ]
    for (const [text, status] of refusals)
      for (const size of [text.length, 7, 1])
        assert.strictEqual(feed(text, size), status, `${size}: ${JSON.stringify(text.slice(0, 90))}`)
  })

  it("writes what it read: one form of target, host, length, list and white space", () => {
    const forms: ReadonlyArray<readonly [string, string]> = [
      [`${get}X:\t a b \t\r\nContent-Length:  003 \r\n\r\nabc`, `${get}X: a b\r\nContent-Length: 3\r\n${added}abc`],
      [
        "GET HTTP://App.example.test?q HTTP/1.1\r\nHost: other\r\n\r\n",
        `GET /?q HTTP/1.1\r\nHost: App.example.test\r\n${added.replaceAll("app.", "App.")}`
      ],
      [
        "OPTIONS http://app.example.test HTTP/1.1\r\nHost: a\r\n\r\n",
        `OPTIONS * HTTP/1.1\r\nHost: app.example.test\r\n${added}`
      ],
      [
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        `GET / HTTP/1.0\r\nHost: app.example.test\r\nConnection: keep-alive\r\n${added}`
      ],
      [
        `${get}TRANSFER-ENCODING: Chunked\r\n\r\nA;q="x"\r\n0123456789\r\n000\r\n\r\n`,
        `${get}Transfer-Encoding: chunked\r\n${added}a\r\n0123456789\r\n0\r\n\r\n`
      ]
    ]
    for (const [text, written] of forms)
      for (const size of /chunked/i.test(text) ? [text.length] : [text.length, 3])
        assert.strictEqual(feed(text, size), written)
  })

  it("removes a visitor's identity headers: also in underscores, trailers, Connection and every X-Forwarded field", () => {
    const forged = [
      "X_Forwarded_For: 6.6.6.6",
      "x_real-ip: 6.6.6.6",
      "X-Forwarded-Port: 1",
      "X-Forwarded-Prefix: /a",
      "FORWARDED: for=6.6.6.6",
      "Content_Length: 7",
      "Transfer_Encoding: chunked",
      "HTTP2-Settings: x",
      "Keep-Alive: timeout=1",
      "X-Hop: y",
      "Connection: X-Forwarded-For, x-hop, Host, Content-Length",
      "TE: gzip, trailers"
    ].join("\r\n")
    const trailers =
      "x-forwarded-for: 6\r\nX_Forwarded_Host: evil\r\nContent-Length: 9\r\nAuthorization: x\r\nX-Sum: 1\r\n"
    assert.strictEqual(
      feed(`${get}${forged}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${trailers}\r\n`),
      `${get}Transfer-Encoding: chunked\r\nConnection: TE\r\nTE: trailers\r\n${added}0\r\nX-Sum: 1\r\n\r\n`
    )
  })

  it("asks no origin to leave HTTP/1 for another version of HTTP", () => {
    const asking = (protocol: string) =>
      `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: x\r\n\r\n`
    for (const protocol of ["h2c", "H2C", "HTTP/2.0", "TLS/1.2"])
      assert.strictEqual(feed(asking(protocol)), `${get}${added}`)
    assert.strictEqual(feed(asking("h2c, websocket")), `${get}Connection: Upgrade\r\nUpgrade: websocket\r\n${added}`)
  })

  it("lets nothing through behind the last request of a connection", () => {
    const last = `${get}Connection: close\r\n`
    assert.strictEqual(feed(`${last}\r\n${get}\r\n`), `${last}${added}`)
    const old = "GET / HTTP/1.0\r\nHost: app.example.test\r\n"
    assert.strictEqual(feed(`${old}\r\n${get}\r\n`), `${old}${added}`)
  })

  it("hands over what precedes a faulty request", () => {
    const rewriter = rewriting()
    const out = rewriter.push(Buffer.from(`${get}\r\nGET / HTTP/1.1\r\nbad\r\n\r\n`))
    assert.strictEqual(textOf(out), `${get}${added}`)
    assert.deepInclude(rewriter.refused, { begun: false })
    assert.isEmpty(rewriter.push(Buffer.from(`${get}\r\n`)))
    const body = rewriting()
    body.push(Buffer.from(`${get}Transfer-Encoding: chunked\r\n\r\nzz\r\n`))
    assert.deepInclude(body.refused, { begun: true })
  })

  it("holds everything behind a request to upgrade until the origin has answered", () => {
    const fields = "Connection: Upgrade, keep-alive\r\nUpgrade: websocket\r\n"
    const upgrade = `${get}${fields}`
    for (const [accepted, rest] of [
      [true, "\x81\x05hello"],
      [false, `${get}${added}`]
    ] as const) {
      const rewriter = rewriting()
      const first = rewriter.push(Buffer.from(`${upgrade}\r\n${accepted ? rest : `${get}\r\n`}`, "latin1"))
      assert.isTrue(rewriter.held)
      assert.strictEqual(textOf(first), `${upgrade}${added}`)
      const second = rewriter.answered(accepted)
      assert.strictEqual(textOf(second), rest)
    }
  })

  it("follows an upgrade of a later request, and lets its body through before it holds", () => {
    const fields = "Content-Length: 4\r\nConnection: Upgrade\r\nUpgrade: x\r\n"
    const rewriter = rewriting()
    const say = (text: string) => textOf(rewriter.push(Buffer.from(text, "latin1")))
    assert.strictEqual(say(`${get}\r\n${get}${fields}\r\nbo`), `${get}${added}${get}${fields}${added}bo`)
    assert.isFalse(rewriter.held)
    assert.strictEqual(say("dy\x00raw"), "dy")
    assert.isTrue(rewriter.held)
    assert.strictEqual(Buffer.concat(rewriter.answered(true)).toString("latin1"), "\x00raw")
    assert.strictEqual(say("GET"), "GET")
  })

  it("continues at once when the origin answered before the request was whole", () => {
    for (const [accepted, out] of [
      [true, "body\x00"],
      [false, "body"]
    ] as const) {
      const rewriter = rewriting()
      rewriter.push(Buffer.from(`${get}Connection: upgrade\r\nUpgrade: x\r\nContent-Length: 4\r\n\r\n`))
      rewriter.answered(accepted)
      const rest = rewriter.push(Buffer.from("body\x00", "latin1"))
      assert.isFalse(rewriter.held)
      assert.strictEqual(textOf(rest), out)
    }
  })

  it.prop("never throws, whatever arrives", [Schema.Array(Schema.Uint8Array)], ([chunks]) => {
    const rewriter = rewriting()
    for (const chunk of chunks) rewriter.push(Buffer.from(chunk))
  })
})
