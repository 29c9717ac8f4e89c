/** One question to one DNS server and its answer: over UDP, and over TCP where the answer did not fit. */
import * as Bytes from "@catenet/crypto/Bytes"
import { isIPv6 } from "@catenet/platform/IpAddress"
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { Data, Effect, Option } from "effect"
import * as Message from "./DnsMessage.ts"

/** The server did not answer, or not in a way that can be read. */
export class DnsUnreachable extends Data.TaggedError("DnsUnreachable")<{
  readonly server: Address
  readonly why: string
}> {
  override get message() {
    return `The name server ${this.server.host}:${this.server.port} ${this.why}`
  }
}

/** An answer with the bytes that it was read from. */
export interface Reply {
  readonly bytes: Uint8Array
  readonly answer: Message.Answer
}

const idOf = (message: Uint8Array) => ((message[0] ?? 0) << 8) | (message[1] ?? 0)

/** A connected socket takes datagrams from the server alone; those that answer something else are passed over. */
const overUdp = (server: Address, message: Uint8Array) =>
  Effect.callback<Reply, DnsUnreachable>((resume) => {
    const socket = Sockets.udpSocket(isIPv6(server.host) ? "udp6" : "udp4")
    const fail = (error: Error) => resume(Effect.fail(new DnsUnreachable({ server, why: error.message })))
    socket.on("error", fail)
    socket.on("message", (bytes) => {
      const answer = Option.getOrUndefined(Message.parse(bytes))
      if (answer?.id === idOf(message)) resume(Effect.succeed({ bytes, answer }))
    })
    socket.connect(server.port, server.host, (error?: Error) =>
      error === undefined ? socket.send(message) : fail(error)
    )
    return Effect.sync(() => socket.close())
  }).pipe(Effect.timeoutOption("1500 millis"))

const overTcp = (server: Address, message: Uint8Array) =>
  Effect.callback<Reply, DnsUnreachable>((resume) => {
    const socket = Sockets.dialTcp(server.port, server.host)
    const fail = (why: string) => resume(Effect.fail(new DnsUnreachable({ server, why })))
    let received = new Uint8Array(0)
    socket.on("connect", () => socket.write(Bytes.concat(Message.uint16(message.length), message)))
    socket.on("error", ({ message: why }) => fail(why))
    socket.on("close", () => fail("hung up"))
    socket.on("data", (chunk: Buffer) => {
      received = Uint8Array.from(Bytes.concat(received, chunk))
      const length = 2 + idOf(received)
      if (received.length < 2 || received.length < length) return
      const bytes = received.subarray(2, length)
      const answer = Option.getOrUndefined(Message.parse(bytes))
      if (answer?.id === idOf(message)) resume(Effect.succeed({ bytes, answer }))
      else fail("answered something else")
    })
    return Effect.sync(() => socket.destroy())
  }).pipe(
    Effect.timeoutOrElse({
      duration: "3 seconds",
      orElse: () => Effect.fail(new DnsUnreachable({ server, why: "did not answer over TCP" }))
    })
  )

/** Sends a message, twice where the first seems lost, and answers with what came back. */
export const exchange = (server: Address, message: Uint8Array): Effect.Effect<Reply, DnsUnreachable> =>
  overUdp(server, message).pipe(
    Effect.repeat({ times: 1, while: Option.isNone }),
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.fail(new DnsUnreachable({ server, why: "did not answer" })),
        onSome: (reply) => (reply.answer.isTruncated ? overTcp(server, message) : Effect.succeed(reply))
      })
    )
  )
