import { assert, describe, it } from "@effect/vitest"
import { PassThrough } from "node:stream"
import * as BrowserClients from "../../src/tunnel/BrowserClients.ts"

describe("the count of requests", () => {
  it("takes heads, also those of a connection that goes on, and no bodies", () => {
    const requests: { count: number | undefined } = { count: 0 }
    const client = new PassThrough()
    const said = Buffer.from("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    BrowserClients.count(requests, client, said)
    assert.strictEqual(requests.count, 1)
    for (const [chunk, count] of [
      ["POST /upload?x=1 HTTP/1.1\r\nContent-Length: 9\r\n\r\n", 2],
      ["GET me off", 2],
      ["get / HTTP/1.1\r\n\r\n", 2],
      ["\r\nGET / HTTP/1.1\r\n\r\n", 2],
      [`PUT /${"a".repeat(3000)} HTTP/1.1\r\n\r\n`, 2],
      ["\u0016\u0003\u0001", 2],
      ["OPTIONS * HTTP/1.0\r\n\r\n", 3]
    ] as const) {
      client.emit("data", Buffer.from(chunk))
      assert.strictEqual(requests.count, count, chunk.slice(0, 20))
    }
  })
})
