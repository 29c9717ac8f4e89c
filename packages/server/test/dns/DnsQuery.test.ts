import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createSocket } from "node:dgram"
import { createServer } from "node:net"
import { freePort } from "../../../stack/src/Ports.ts"
import * as Message from "../../src/dns/DnsMessage.ts"
import { exchange } from "../../src/dns/DnsQuery.ts"

const question = Message.query(0xbeef, { name: "a.test", type: Message.Type.TXT })

/** An answer to the question with these flags and this id. */
const reply = (flags: number, id = 0xbeef) => {
  const out = Buffer.from(question)
  out.writeUInt16BE(id, 0)
  out.writeUInt16BE(flags, 2)
  return out
}

/** A server that answers a datagram with these, and a connection with this in two pieces. */
const server = (datagrams: ReadonlyArray<Buffer>, stream: Buffer) =>
  Effect.gen(function* () {
    // One port number for both, which the system assigns to no socket by itself.
    const port = yield* freePort("127.0.0.1")
    const tcp = createServer((socket) => {
      socket.on("data", () => {
        const whole = Buffer.concat([Message.uint16(stream.length), stream])
        socket.write(whole.subarray(0, 5))
        setImmediate(() => socket.write(whole.subarray(5)))
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void tcp.listen(port, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => tcp.close())
    )
    const udp = createSocket("udp4")
    udp.on("message", (_, from) => {
      for (const datagram of datagrams) udp.send(datagram, from.port, from.address)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void udp.bind(port, "127.0.0.1", () => resume(Effect.void))),
      () => Effect.sync(() => udp.close())
    )
    return { host: "127.0.0.1", port }
  })

it.live("passes over what answers something else", () =>
  Effect.gen(function* () {
    const to = yield* server([Buffer.from("noise"), reply(0x8405, 1), question as Buffer, reply(0x8403)], reply(0))
    assert.strictEqual((yield* exchange(to, question)).answer.rcode, 3)
  }).pipe(Effect.scoped)
)

it.live("asks over TCP where the answer was cut", () =>
  Effect.gen(function* () {
    const to = yield* server([reply(0x8600)], reply(0x8402))
    const { answer } = yield* exchange(to, question)
    assert.deepInclude(answer, { rcode: 2, isTruncated: false })
  }).pipe(Effect.scoped)
)

it.live("asks twice and then gives up", () =>
  Effect.gen(function* () {
    const to = yield* server([], reply(0))
    const refusal = yield* Effect.flip(exchange(to, question))
    assert.include(refusal.message, `127.0.0.1:${to.port} did not answer`)
  }).pipe(Effect.scoped)
)
