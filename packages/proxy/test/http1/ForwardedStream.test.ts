import { eventually } from "@catenet/testing/Eventually"
import { assert, it } from "@effect/vitest"
import { duplexPair } from "node:stream"
import type { TLSSocket } from "node:tls"
import { ForwardedStream } from "../../src/http1/ForwardedStream.ts"

it("takes a small piece for a crumb only where it brings no whole request", async () => {
  const [near, far] = duplexPair()
  let crumbs = 0
  const visitor = new ForwardedStream(
    near as unknown as TLSSocket,
    { address: "192.0.2.7", hostname: "a.test" },
    {
      onFault: (error) => assert.fail(String(error)),
      httpOnly: true,
      headMillis: 10_000,
      onCrumbs: (pieces) => {
        crumbs += pieces
        return 0
      }
    }
  )
  let forwarded = ""
  visitor.on("data", (chunk: Buffer) => (forwarded += chunk.toString()))
  const request = (n: number) => `GET /${n} HTTP/1.1\r\nHost: a.test\r\n\r\n`
  for (let n = 0; n < 5; n++) {
    far.write(request(n))
    await eventually(() => forwarded.includes(`GET /${n} `), `request ${n} is passed on`)
  }
  assert.strictEqual(crumbs, 0)
  far.write("POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\n")
  await eventually(() => forwarded.includes("POST /p "), "the upload is passed on")
  for (const [n, byte] of ["a", "b", "c"].entries()) {
    far.write(byte)
    await eventually(() => crumbs === n + 1, `byte ${n} is a crumb`)
  }
  visitor.destroy()
})
