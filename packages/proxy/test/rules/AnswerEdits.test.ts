import { OriginAnswers } from "@catenet/proxy/internal/http1/OriginAnswers"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Writable } from "node:stream"

const edit = (name: string, value: string | undefined) => ({ key: name.toLowerCase(), name, value })
const edits = { request: [], response: [edit("Server", undefined), edit("X-Frame", "DENY")], maxBody: undefined }

const first =
  "HTTP/1.1 103 Early Hints\r\nServer: a\r\n\r\nHTTP/1.1 200 OK\r\nserver: a\r\nContent-Length: 9\r\n\r\nServer: b"
const second = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: c\r\n folded\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
const plain = "HTTP/1.1 200 OK\r\nServer: d\r\nContent-Length: 0\r\n\r\n"

const listening = () => {
  const chunks: Array<Buffer> = []
  const visitor = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk)
      done()
    }
  })
  const heard = () => {
    while (visitor.writableCorked > 0) visitor.uncork()
    return Buffer.concat(chunks).toString()
  }
  return { heard, visitor }
}

/** What the visitor gets of three answers that arrive in pieces; the last request has no edits. */
const passed = (pieces: ReadonlyArray<string>) => {
  const { heard, visitor } = listening()
  const answers = new OriginAnswers(visitor, () => undefined)
  const request = { method: "GET", upgrade: false }
  for (const edited of [true, true, false]) answers.asks(edited ? { ...request, edits } : request)
  for (const piece of pieces) answers.write(Buffer.from(piece), () => undefined)
  assert.isTrue(answers.isWhole)
  return heard()
}

const expected =
  "HTTP/1.1 103 Early Hints\r\nServer: a\r\n\r\n" +
  "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nX-Frame: DENY\r\n\r\nServer: b" +
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Frame: DENY\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
  plain

describe("the fields of answers", () => {
  it.prop(
    "are edited in the final head of each answer whose request asks for it, however the bytes arrive",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })))],
    ([lengths]) => {
      const whole = first + second + plain
      const pieces: Array<string> = []
      let at = 0
      for (const length of lengths) {
        if (at >= whole.length) break
        pieces.push(whole.slice(at, at + length))
        at += length
      }
      if (at < whole.length) pieces.push(whole.slice(at))
      assert.strictEqual(passed(pieces), expected)
    }
  )

  it("are left alone in a head that had begun before the first request that asks for an edit", () => {
    const { heard, visitor } = listening()
    const answers = new OriginAnswers(visitor, () => undefined)
    const request = { method: "GET", upgrade: false }
    answers.asks(request)
    answers.write(Buffer.from(plain.slice(0, 20)), () => undefined)
    answers.asks({ ...request, edits })
    answers.write(Buffer.from(plain.slice(20) + plain), () => undefined)
    const edited = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Frame: DENY\r\n\r\n"
    assert.strictEqual(heard(), plain + edited)
  })
})
