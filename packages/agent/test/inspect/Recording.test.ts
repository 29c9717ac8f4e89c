/** What the inspector keeps, on both sides of each bound, and how it follows what comes in pieces. */
import { mutate, random } from "@catenet/testing/edge/fuzz/Mutation"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import * as Curl from "../../src/inspect/Curl.ts"
import { maxBody, type Recorded } from "../../src/inspect/Exchange.ts"
import { ExchangeFollower } from "../../src/inspect/ExchangeFollower.ts"
import { detail, summary } from "../../src/inspect/ExchangeView.ts"
import { archive } from "../../src/inspect/Har.ts"
import * as Pages from "../../src/inspect/Pages.ts"
import { maxRequests, Recording } from "../../src/inspect/Recording.ts"
import * as TerminalText from "../../src/inspect/TerminalText.ts"

const visit: Recorded = {
  client: "192.0.2.7",
  host: "shop.example",
  tls: "agent",
  http: "1.1",
  connectMillis: undefined,
  dial: Effect.never
}

const bytes = (text: string) => Buffer.from(text, "latin1")

/** One connection on which these requests and responses pass. */
const follow = (recording: Recording, request: string, response: string, piece = Number.POSITIVE_INFINITY) => {
  const follower = new ExchangeFollower(recording, visit)
  const inPieces = (text: string, take: (chunk: Buffer) => void) => {
    for (let at = 0; at < text.length; at += piece) take(bytes(text.slice(at, at + piece)))
  }
  inPieces(request, (chunk) => follower.requested(chunk))
  inPieces(response, (chunk) => follower.responded(chunk))
  return follower
}

const post = (body: string) => `POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const ok = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

describe("the recording", () => {
  it(`keeps ${maxRequests} requests, and with one more the oldest gives way`, () => {
    const recording = new Recording()
    for (let n = 0; n < maxRequests; n++) follow(recording, post(""), ok(""))
    assert.strictEqual(recording.list().at(-1)?.id, 1)
    follow(recording, post(""), ok(""))
    assert.deepStrictEqual(
      [recording.list().length, recording.list().at(-1)?.id, recording.get(1)],
      [maxRequests, 2, undefined]
    )
  })

  it("keeps a body of 1 MiB whole, and of a longer one as much", () => {
    const recording = new Recording()
    for (const size of [maxBody, maxBody + 1]) follow(recording, post("a".repeat(size)), ok("b".repeat(size)), 60_000)
    const [longer, whole] = recording.list()
    assert.deepStrictEqual([whole?.requestBody.kept, whole?.responseBody.isComplete], [maxBody, true])
    assert.deepStrictEqual([longer?.requestBody.kept, longer?.responseBody.kept], [maxBody, maxBody])
    assert.deepStrictEqual([longer?.requestBody.size, longer?.responseBody.isComplete], [maxBody + 1, false])
  })

  it("counts what it keeps, and lets the oldest bodies give way before it forgets a request", () => {
    const recording = new Recording(20_000)
    for (let n = 0; n < 3; n++) follow(recording, post("a".repeat(3_000)), ok("b".repeat(3_000)))
    assert.isFalse(recording.get(1)?.hasGivenWay)
    follow(recording, post("a".repeat(3_000)), ok("b".repeat(3_000)))
    assert.deepStrictEqual(
      recording.list().map(({ hasGivenWay }) => hasGivenWay),
      [false, false, false, true]
    )
    assert.strictEqual(recording.get(1)?.requestBody.pieces.length, 0)
    assert.isAtMost(recording.total, 20_000)
    const head = `GET /${"x".repeat(5_000)} HTTP/1.1\r\n\r\n`
    for (let n = 0; n < 10; n++) follow(recording, head, ok(""))
    assert.isAtMost(recording.total, 20_000)
    assert.isAtLeast(recording.list().length, 3)
    assert.isUndefined(recording.get(1))
    recording.clear()
    assert.strictEqual(recording.total, 0)
  })

  it("takes no more of a request that it has forgotten", () => {
    const recording = new Recording()
    const follower = follow(recording, post(""), "")
    recording.clear()
    follower.responded(bytes(ok("late")))
    assert.deepStrictEqual([recording.list().length, recording.total], [0, 0])
  })

  it("counts the pieces of a stream that sends single bytes", () => {
    const recording = new Recording()
    follow(recording, post(""), `HTTP/1.1 200 OK\r\n\r\n${"x".repeat(20_000)}`, 1)
    const [one] = recording.list()
    assert.isBelow(one?.responseBody.kept ?? 0, 20_000)
    assert.isAtMost(recording.total, 2 * maxBody)
  })
})

describe("a followed connection", () => {
  const chunked = "5\r\nhello\r\n6;x=1\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"
  const request = `PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}${post("second")}`
  const response = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}HTTP/1.1 204 No Content\r\n\r\n`

  it("is read the same in pieces of any size", () => {
    for (const piece of [1, 2, 3, 7, 64, 10_000]) {
      const recording = new Recording()
      follow(recording, request, response, piece)
      const read = recording.list().map((exchange) => detail(exchange, true))
      assert.deepStrictEqual(
        read.map((one) => [one.method, one.status, one.state, one.request.body.text, one.response?.body.text]),
        [
          ["POST", 204, "complete", "second", ""],
          ["PUT", 200, "complete", "hello world", "hello world"]
        ],
        `${piece}`
      )
    }
  })

  it("ends a response without a length with the connection, and tells an early end", () => {
    const recording = new Recording()
    follow(recording, post(""), "HTTP/1.0 200 OK\r\n\r\nall of it").closed(true)
    follow(recording, post(""), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").closed(true)
    follow(recording, post(""), "").closed(false)
    assert.deepStrictEqual(
      recording.list().map((exchange) => detail(exchange, true).state),
      ["broken", "broken", "complete"]
    )
  })

  it("is left alone where it is no HTTP/1", () => {
    const recording = new Recording()
    for (const said of [
      "\u0016\u0003\u0001",
      "SSH-2.0-x\r\n\r\n",
      "GET /\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\n",
      "x".repeat(70_000)
    ])
      follow(recording, said, said).closed(true)
    follow(recording, "", ok("unasked"))
    assert.strictEqual(recording.list().length, 0)
  })
})

/** Elements of the pages themselves. */
const ownTag =
  /^<(?:!doctype html|\/?(?:html|head|body|title|meta|link|script|header|main|a|svg|circle|path|span|h[1-3]|div|form|button|dl|dt|dd|time|table|caption|thead|tbody|tr|th|td|pre|p|label|input|textarea|select|option)(?:\s[^<>]*)?>)/u

describe("bytes of traffic", () => {
  it("are text in pages and on a terminal, whatever they are", () => {
    const heads = [
      `GET /?q=<img src=x onerror=alert(1)> HTTP/1.1\r\nHost: "><script>\r\nX-A: '\u001b]0;t\u0007\r\n\r\n`,
      post(`{"jsonrpc":"2.0","id":"<b>","method":"tools/<i>","params":{"name":"</pre><img>"}}`).replace(
        "\r\n",
        "\r\nContent-Type: application/json\r\n"
      )
    ]
    const answers = [
      'HTTP/1.1 200 <b>OK</b>\r\nContent-Type: text/event-stream\r\n\r\nevent: <i>\ndata: {"jsonrpc":"2.0","id":"<b>","result":"</td><img>\u202e"}\n\n',
      "HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n\u0081\u0005<img>\u0088\u0004\u0003\u00e8<b"
    ]
    for (let seed = 1; seed <= 400; seed++) {
      const dice = random(seed)
      const recording = new Recording()
      const said = mutate(heads.map(bytes), dice)
      const answer = mutate(answers.map(bytes), dice)
      const follower = new ExchangeFollower(recording, { ...visit, client: "<i>" })
      follower.requested(said)
      follower.responded(answer)
      follower.closed(dice.below(2) === 0)
      for (const exchange of recording.list()) {
        const one = detail(exchange, seed % 2 === 0)
        const page =
          Pages.detail(one, Curl.command(one, "shop.example")) +
          Pages.edit(one, undefined) +
          Pages.list([summary(exchange, false)], { words: "<img>", service: "<img>" }, ["<b>"], '"1"')
        for (const { index } of page.matchAll(/</gu)) assert.match(page.slice(index, index + 2_000), ownTag, `${seed}`)
        const plain = TerminalText.detail(one) + TerminalText.list([summary(exchange, true)])
        for (const text of [page, plain])
          assert.notMatch(text, /(?![\t\n])[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/u, `${seed}`)
        JSON.parse(JSON.stringify(archive([exchange], true)))
      }
    }
  })
})
