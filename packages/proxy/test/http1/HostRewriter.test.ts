import { assert, describe, it } from "@effect/vitest"
import { HostRewriter } from "../../src/http1/HostRewriter.ts"

const says = (text: string, size = text.length, host = "localhost:3000") => {
  const rewriter = new HostRewriter(host)
  let out = ""
  for (let at = 0; at < text.length; at += size)
    out += rewriter.push(Buffer.from(text.slice(at, at + size), "latin1")).toString("latin1")
  return out + rewriter.flush().toString("latin1")
}

const sizes = [1, 3, 17, 100_000]

describe("the Host field of requests on one connection", () => {
  it("is another in each head, in whatever pieces they come, and bodies pass", () => {
    const requests = (name: string) =>
      [
        `GET / HTTP/1.1\r\nHost: ${name}\r\nAccept: */*\r\n\r\n`,
        `POST /a HTTP/1.1\r\nX: 1\r\nhost:${name === "a.example" ? "a.example" : " localhost:3000"}\r\nContent-Length: 27\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n`,
        `POST /b HTTP/1.1\r\nHost: ${name}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHost:\r\n0\r\nTrailer: 1\r\n\r\n`,
        `GET /c HTTP/1.1\r\nHost: ${name}\r\n\r\n`
      ].join("")
    const wanted = requests("localhost:3000").replace("\r\nhost: ", "\r\nHost: ")
    for (const size of sizes) assert.strictEqual(says(requests("a.example"), size), wanted, `${size}`)
  })

  it("is added where there is none, and there is one where there were two", () => {
    assert.strictEqual(says("GET / HTTP/1.0\r\n\r\n"), "GET / HTTP/1.0\r\nHost: localhost:3000\r\n\r\n")
    assert.strictEqual(
      says("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
      "GET / HTTP/1.1\r\nHost: localhost:3000\r\n\r\n"
    )
  })

  it("is left alone in what is no HTTP/1 request, without waiting for more of it", () => {
    for (const text of [
      "\x16\x03\x01\x02\x00GET / HTTP/1.1\r\nHost: a\r\n\r\n",
      "EHLO a.example\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nabc",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ])
      for (const size of sizes) assert.strictEqual(says(text, size), text)
    const rewriter = new HostRewriter("b")
    assert.strictEqual(rewriter.push(Buffer.from("EHLO ")).toString(), "")
    assert.strictEqual(rewriter.push(Buffer.from("a.example\r")).toString(), "EHLO a.example\r")
  })

  it("is another after an upgrade that the origin refuses, and bytes pass after one that it accepts", () => {
    const upgrade = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    const next = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    for (const [answer, wanted] of [
      ["HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", next.replace("Host: a", "Host: b")],
      ["HTTP/1.1 101 Switching Protocols\r\n\r\n", next]
    ] as const) {
      const rewriter = new HostRewriter("b")
      assert.include(rewriter.push(Buffer.from(upgrade)).toString(), "Host: b")
      rewriter.answered(Buffer.from(answer))
      assert.strictEqual(rewriter.push(Buffer.from(next)).toString(), wanted)
    }
  })
})
