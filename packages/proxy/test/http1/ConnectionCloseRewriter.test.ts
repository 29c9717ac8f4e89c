import { assert, it } from "@effect/vitest"
import { ConnectionCloseRewriter } from "../../src/http1/OriginAnswers.ts"

const says = (text: string, size = text.length) => {
  const answer = new ConnectionCloseRewriter()
  let out = ""
  for (let at = 0; at < text.length; at += size)
    out += answer.push(Buffer.from(text.slice(at, at + size), "latin1")).toString("latin1")
  return { out, said: answer.said }
}

it("the final answer says that the connection ends, in whatever pieces it comes", () => {
  const text = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
  const wanted = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
  for (const size of [1, 7, text.length]) assert.deepStrictEqual(says(text, size), { out: wanted, said: true })
})

it("an interim answer passes, and the one behind it says it", () => {
  const text = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"
  const wanted = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
  for (const size of [1, 7, text.length]) assert.deepStrictEqual(says(text, size), { out: wanted, said: true })
})

it("what leaves HTTP, is none or has no end of a head passes as it is", () => {
  const upgraded = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n\0\x01"
  for (const text of [upgraded, "220 mail.example ESMTP\r\n\r\nmore", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`])
    assert.deepStrictEqual(says(text, 1000), { out: text, said: false })
})
