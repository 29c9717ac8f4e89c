import { assert, describe, it } from "@effect/vitest"
import { AnswerFollower } from "../../src/http/AnswerFollower.ts"

const after = (...said: ReadonlyArray<readonly ["client" | "origin", string]>) => {
  const follower = new AnswerFollower()
  for (const [who, text] of said)
    if (who === "client") follower.asks(Buffer.from(text))
    else follower.answers(Buffer.from(text))
  return follower.isWhole
}

const post = ["client", "POST / HTTP/1.1\r\n\r\n"] as const

describe("an origin has answered whole", () => {
  it("at the end of its last answer's body and nowhere before", () => {
    const answer = "HTTP/1.1 413 X\r\nContent-Length: 7\r\n\r\ntoo big"
    for (let length = 0; length <= answer.length; length++)
      assert.strictEqual(after(post, ["origin", answer.slice(0, length)]), length === answer.length, `${length}`)
    assert.isFalse(after(post, ["origin", answer], post, ["origin", answer.slice(0, 30)]))
    assert.isTrue(after(post, ["origin", answer], post, ["origin", answer]))
  })

  it("at the end of the head that answers HEAD", () => {
    const head = ["origin", "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"] as const
    assert.isTrue(after(["client", "HEAD / HTTP/1.1\r\n\r\n"], head))
    assert.isFalse(after(["client", "HEAD / HTTP/1.1\r\n\r\n"], head, post, head))
  })

  it("never where its answer ends with the connection, after an upgrade, or in another protocol", () => {
    assert.isFalse(after(post, ["origin", "HTTP/1.1 200 OK\r\n\r\nbody"]))
    assert.isFalse(after(post, ["origin", "HTTP/1.1 101 Switching Protocols\r\n\r\n"]))
    assert.isFalse(after(["client", "\x16\x03\x01"], ["origin", "\x16\x03\x03\x00\x02"]))
    assert.isFalse(after(post))
  })
})
