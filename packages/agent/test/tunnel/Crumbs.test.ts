/** Small pieces of visitors of an end-to-end name: those of an address that has sent too many wait, and others are read. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { eventually } from "@catenet/testing/Eventually"
import { CrumbBudget, crumbBurst } from "@catenet/wire/transport/CrumbBudget"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { connect as connectHttp2 } from "node:http2"
import type { AddressInfo } from "node:net"
import { AgentMetrics } from "../../src/observe/AgentMetrics.ts"
import * as FirstRequestHead from "../../src/tunnel/FirstRequestHead.ts"
import * as TerminatingPort from "../harness/TerminatingPort.ts"

const [greedy, modest] = ["127.0.0.2", "127.0.0.3"] as const

/** An origin that keeps the bytes of each upload, and the port of an agent before it at which one address has spent its budget. */
const world = Effect.gen(function* () {
  const uploads = new Map<string, string>()
  const server = createServer((request) => {
    const path = request.url ?? ""
    uploads.set(path, "")
    request.on("data", (chunk: Buffer) => uploads.set(path, `${uploads.get(path)}${chunk}`))
    request.on("error", () => {})
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => (server.closeAllConnections(), void server.close()))
  )
  const crumbs = new CrumbBudget()
  // Its next piece waits for an hour.
  crumbs.spend(greedy, crumbBurst + 5_000 * 3_600, Scheduler.monotonicMillis())
  const { port } = server.address() as AddressInfo
  const { tls } = yield* TerminatingPort.open(port, FirstRequestHead.usualBounds, undefined, crumbs)
  return { tls, uploads }
}).pipe(Effect.provide(AgentMetrics.layer))

/** Begins an upload, whose bytes are sent one by one. */
type Begin = (tls: Effect.Success<typeof world>["tls"], address: string) => (byte: string) => void

const http1: Begin = (tls, address) => {
  const socket = tls(address)
  socket.on("error", () => {})
  socket.write(
    `POST /${address} HTTP/1.1\r\nHost: ${TerminatingPort.host}\r\nX-Filler: ${"x".repeat(300)}\r\nContent-Length: 9\r\n\r\n`
  )
  return (byte) => void socket.write(byte)
}

const http2: Begin = (tls, address) => {
  const socket = tls(address, ["h2"])
  const client = connectHttp2(`https://${TerminatingPort.host}`, { createConnection: () => socket })
  client.on("error", () => {})
  const stream = client.request({ ":method": "POST", ":path": `/${address}` })
  stream.on("error", () => {})
  return (byte) => void stream.write(byte)
}

describe("small pieces of a visitor whose TLS the agent ends", () => {
  it.live.each([
    ["HTTP/1.1", http1],
    ["HTTP/2", http2]
  ] as const)("over %s wait where its address has sent too many, and those of another are read", ([, begin]) =>
    Effect.gen(function* () {
      const { tls, uploads } = yield* world
      const begun = new Map([greedy, modest].map((address) => [address, begin(tls, address)]))
      const has = (address: string, bytes: string) =>
        Effect.promise(() => eventually(() => uploads.get(`/${address}`) === bytes, `${address} has sent ${bytes}`))
      for (const [address, send] of begun) {
        send("a")
        yield* has(address, "a")
      }
      for (const bytes of ["ab", "abc", "abcd"]) {
        for (const send of begun.values()) send(bytes.slice(-1))
        yield* has(modest, bytes)
      }
      // A piece that was read with the first one may have passed with it.
      assert.include(["a", "ab"], uploads.get(`/${greedy}`))
    }).pipe(Effect.scoped)
  )

  it.live("leave turns to requests of another address, however many its own sends over HTTP/2", () =>
    Effect.gen(function* () {
      const { tls, uploads } = yield* world
      const client = (address: string) => {
        const session = connectHttp2(`https://${TerminatingPort.host}`, {
          createConnection: () => tls(address, ["h2"])
        })
        session.on("error", () => {})
        return (path: string) => void session.request({ ":path": path }).on("error", () => {})
      }
      const has = (path: string) => Effect.promise(() => eventually(() => uploads.has(path), path))
      const many = Array.from({ length: 4 }, () => client(greedy))
      const one = client(modest)
      for (const [n, ask] of [...many, one].entries()) {
        ask(`/first/${n}`)
        yield* has(`/first/${n}`)
      }
      for (const [n, ask] of many.entries()) for (let m = 0; m < 99; m++) ask(`/greedy/${n}/${m}`)
      one("/modest")
      for (let n = 0; n < many.length; n++) yield* has(`/greedy/${n}/98`)
      yield* has("/modest")
      assert.isBelow([...uploads.keys()].indexOf("/modest"), 250)
    }).pipe(Effect.scoped)
  )
})
