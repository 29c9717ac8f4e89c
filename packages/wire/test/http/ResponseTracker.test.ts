import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ResponseTracker, type TrackedRequest } from "../../src/http/ResponseTracker.ts"

const get: TrackedRequest = { method: "GET", upgrade: false }
const head: TrackedRequest = { method: "HEAD", upgrade: false }
const upgrade: TrackedRequest = { method: "GET", upgrade: true }

const switching = "HTTP/1.1 101 Switching Protocols\r\n\r\n"
const known = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHTTP/"
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nX: y\r\n\r\n"

/** The verdicts on the upgrade, with the answers cut into pieces of `size`. */
const tell = (asked: ReadonlyArray<TrackedRequest>, text: string, size: number) => {
  const follower = new ResponseTracker()
  for (const request of asked) follower.asks(request)
  const verdicts: Array<boolean> = []
  for (let at = 0; at < text.length; at += size) {
    const verdict = follower.push(Buffer.from(text.slice(at, at + size), "latin1"))
    if (verdict !== undefined) verdicts.push(verdict)
  }
  return { verdicts, busy: follower.busy }
}

describe("ResponseTracker", () => {
  it("recognizes accepted, refused and interim answers to an upgrade, at every segmentation", () => {
    const cases: ReadonlyArray<readonly [ReadonlyArray<TrackedRequest>, string, ReadonlyArray<boolean>, boolean?]> = [
      [[upgrade], switching, [true]],
      [[upgrade], `${switching}HTTP/1.1 200 OK\r\n\r\n`, [true]],
      [[upgrade], known, [false]],
      [[upgrade], `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${switching}`, [true]],
      [[upgrade], "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n", [false]],
      [[upgrade], "HTTP/1.1 100 Continue\r\n", [], true],
      [[upgrade], "SSH-2.0-OpenSSH", [false]],
      [[get, upgrade], known + switching, [true]],
      [[get, upgrade], chunked + switching, [true]],
      [[get, upgrade], chunked + known, [false]],
      [[head, upgrade], "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + switching, [true]],
      [[get, upgrade], "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n" + switching, [true]],
      [[get, get, upgrade], "HTTP/1.1 204 No Content\r\n\r\n" + known + switching, [true]],
      [[get, upgrade], "HTTP/1.1 200 OK\r\n\r\nuntil the end" + switching, [false]],
      [[get, upgrade], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + switching, [false]],
      [
        [get, upgrade],
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;\x01\r\na\r\n0\r\n\r\n" + switching,
        [false]
      ],
      [
        [get, upgrade],
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno field\r\n\r\n" + switching,
        [false]
      ],
      [[get, upgrade], known, [], true],
      [[get], known.slice(0, -1), [], true],
      [[get], known, []]
    ]
    for (const [asked, text, verdicts, busy = false] of cases)
      for (let size = 1; size <= text.length; size++)
        assert.deepStrictEqual(tell(asked, text, size), { verdicts, busy }, JSON.stringify(text))
  })

  it("does not hold an upgrade once it cannot delimit answers", () => {
    const follower = new ResponseTracker()
    follower.asks(get)
    follower.push(Buffer.from("HTTP/1.1 200 OK\r\n\r\nuntil the end"))
    assert.isFalse(follower.asks(upgrade))
  })

  it.prop("never throws, whatever the origin sends", [Schema.Array(Schema.Uint8Array)], ([chunks]) => {
    const follower = new ResponseTracker()
    follower.asks(upgrade)
    for (const chunk of chunks) follower.push(Buffer.from(chunk))
  })
})
