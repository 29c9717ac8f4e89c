import { eventually } from "@catenet/testing/Eventually"
import { assert, it } from "@effect/vitest"
import { duplexPair } from "node:stream"
import type { TLSSocket } from "node:tls"
import { ForwardedStream } from "../../src/http1/ForwardedStream.ts"

const visiting = (onCrumbs?: (pieces: number) => number) => {
  const [near, far] = duplexPair()
  const visitor = new ForwardedStream(
    near as unknown as TLSSocket,
    { address: "192.0.2.7", hostname: "a.test" },
    {
      onFault: (error) => assert.fail(String(error)),
      httpOnly: true,
      headMillis: 10_000,
      ...(onCrumbs === undefined ? {} : { onCrumbs })
    }
  )
  return { far, visitor }
}

it.each([
  ["HTTP/1.1", "GET /1 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n", 1],
  [
    "HTTP/1.1, behind another",
    "GET /1 HTTP/1.1\r\nHost: a.test\r\n\r\nGET /2 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n",
    2
  ],
  ["HTTP/1.0", "GET /1 HTTP/1.0\r\nHost: a.test\r\n\r\n", 1]
])(
  "ends the connection after the last answer that the visitor asked for, whatever the origin does: %s",
  async (_, asked, answers) => {
    const { far, visitor } = visiting()
    let [forwarded, heard, isOver] = ["", "", false]
    visitor.on("data", (chunk: Buffer) => (forwarded += chunk.toString()))
    far.on("data", (chunk: Buffer) => (heard += chunk.toString())).on("end", () => (isOver = true))
    far.write(asked)
    await eventually(() => forwarded.includes(`GET /${answers} `), "all is passed on")
    visitor.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".repeat(answers))
    await eventually(() => isOver, "the connection ends")
    assert.strictEqual(heard.split("ok").length - 1, answers)
    visitor.destroy()
  }
)

it("answers early, and ends the connection when the rest of the last request has passed", async () => {
  const { far, visitor } = visiting()
  let [forwarded, isOver] = ["", false]
  visitor.on("data", (chunk: Buffer) => (forwarded += chunk.toString()))
  const heard = new Promise<void>((resolve) => void far.on("data", () => resolve()).on("end", () => (isOver = true)))
  far.write("POST / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nContent-Length: 4\r\n\r\nab")
  await eventually(() => forwarded.endsWith("ab"), "half of it is passed on")
  visitor.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
  await heard
  assert.isFalse(isOver)
  far.write("cd")
  await eventually(() => isOver && forwarded.endsWith("abcd"), "the connection ends behind the rest")
  visitor.destroy()
})

it("takes a small piece for a crumb only where it brings no whole request", async () => {
  let crumbs = 0
  const { far, visitor } = visiting((pieces) => {
    crumbs += pieces
    return 0
  })
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
