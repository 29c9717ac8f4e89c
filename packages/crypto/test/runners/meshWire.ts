import { FramedRelay, maxFramedBytes } from "@catenet/wire/frames/FramedRelay"
import { normalHost } from "@catenet/wire/frames/HostName"
import { decodePark, encodePing, encodePong, stopFrame } from "@catenet/wire/frames/ParkPing"
import {
  decodeAddressReply,
  decodePeerReply,
  decodeQuicRole,
  encodeAddressReply,
  encodePeerReply,
  encodeQuicRole,
  type QuicRole
} from "@catenet/wire/frames/QuicRole"
import {
  type Admission,
  admittedReply,
  decodeAdmission,
  encodeAdmission,
  refusedReply
} from "@catenet/wire/frames/Role"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { bytes, type Runners, sameHex } from "./runner.ts"

const quicOnly = new Set(["D", "H", "P", "W", "R"])

const quicRole = (input: any): QuicRole => {
  const { role, hostname, address } = input
  const token = input.token && bytes(input.token)
  if (role === "D") return { role, token, listener: { address, certificate: bytes(input.certificate) } }
  if (role === "H") return { role, token, host: hostname }
  if (role === "R") return { role, adminToken: bytes(input.admin_token), token }
  return role === "W" ? { role } : { role, token }
}

const tlsRole = (input: any): Admission => {
  const { role, hostname: host } = input
  if (role === "M") return { role, adminToken: bytes(input.admin_token), host }
  const token = bytes(input.token)
  return host === undefined ? { role, token } : { role, token, host }
}

const same = <A>(
  encoded: Uint8Array,
  expected: string,
  decoded: Result.Result<{ value: A; size: number }, unknown>,
  value: A
) => {
  sameHex(encoded, expected)
  assert.deepStrictEqual(decoded, Result.succeed({ value, size: encoded.length }))
}

const reason = (stream: Uint8Array): string => {
  const received = new FramedRelay(0).receive(stream, 0)
  return Result.isFailure(received) ? received.failure.reason : "ok"
}

/** The vectors' words for the refusals of the framed relay. */
const refusals: Readonly<Record<string, string>> = {
  "data after fin": "data after fin",
  "double fin": "second fin",
  [`payload above ${maxFramedBytes}`]: "frame too long",
  "unknown discriminator": "not a relay frame"
}

/** The frames of a relay's end that were checked by `framed-stream`: what it reports, and what it acknowledges. */
const keepalive = (counter: bigint): Uint8Array => {
  const frame = Buffer.alloc(9, 0xfd)
  frame.writeBigUInt64BE(counter, 1)
  return frame
}

export const meshWire: Runners = {
  frame: ({ id, input, expect }) => {
    const stream = bytes(expect.bytes)
    if (quicOnly.has(input.role)) {
      const role = quicRole(input)
      same(encodeQuicRole(role), expect.bytes, decodeQuicRole(stream), role)
      if (expect.reply_none !== undefined) {
        const found = quicRole({
          role: "D",
          token: input.token,
          address: "203.0.113.7:9000",
          certificate: "3003020101"
        })
        const listener = found.role === "D" ? found.listener : null
        same(encodePeerReply(null), expect.reply_none, decodePeerReply(bytes(expect.reply_none)), null)
        same(encodePeerReply(listener), expect.reply_found, decodePeerReply(bytes(expect.reply_found)), listener)
      }
      const ownAddress = expect.reply_for_198_51_100_9_port_8008
      if (ownAddress !== undefined) {
        same(
          encodeAddressReply("198.51.100.9:8008"),
          ownAddress,
          decodeAddressReply(bytes(ownAddress)),
          "198.51.100.9:8008"
        )
      }
    } else if (input.role !== undefined) {
      const role = tlsRole(input)
      same(encodeAdmission(role), expect.bytes, decodeAdmission(stream), role)
      if (expect.replies !== undefined) {
        const register = quicRole(input)
        same(encodeQuicRole(register), expect.bytes, decodeQuicRole(stream), register)
        sameHex(admittedReply, expect.replies.ok)
        sameHex(refusedReply, expect.replies.refused)
      }
    } else framed(id, input, expect.bytes)
  },
  "framed-stream": ({ input, expect }) => {
    const stream = bytes(input.stream)
    const relay = new FramedRelay(0)
    const { events, reply } = Result.getOrThrow(relay.receive(stream, 0))
    const seen = events.map((event) => (event._tag === "Fin" ? "fin" : { data: event.bytes.toString("hex") }))
    assert.deepStrictEqual(
      seen,
      expect.frames.filter((frame: any) => frame === "fin" || frame.data !== undefined)
    )
    const last = expect.frames.findLast((frame: any) => frame.keepalive !== undefined)
    sameHex(reply, `f8${BigInt(last.keepalive).toString(16).padStart(16, "0")}`)
    assert.deepStrictEqual(relay.endOfInput(0), Result.succeed([]))
  },
  "framed-error": ({ input, expect }) => assert.strictEqual(reason(bytes(input.stream)), refusals[expect.error]),
  "framed-acks": ({ input, expect }) => {
    const relay = new FramedRelay(0)
    const acknowledged = input.keepalives.flatMap((counter: number) => {
      const { reply } = Result.getOrThrow(relay.receive(keepalive(BigInt(counter)), 0))
      return reply.length === 0 ? [] : [Number(reply.readBigUInt64BE(1))]
    })
    assert.deepStrictEqual(acknowledged, expect.acknowledged)
  },
  "normalize-hostname": ({ expect }) => {
    for (const { in: text, out } of expect.cases) assert.strictEqual(normalHost(text) ?? null, out, text)
  }
}

const framed = (id: string, input: any, expected: string): void => {
  const relay = new FramedRelay(0)
  const counter = BigInt(input.counter ?? 0)
  switch (id) {
    case "ping":
      return same(encodePing(counter), expected, decodePark(bytes(expected)), { _tag: "Ping", counter })
    case "pong":
      return same(encodePong(counter), expected, decodePark(bytes(expected)), { _tag: "Pong", counter })
    case "ping-stop":
      return same(stopFrame, expected, decodePark(bytes(expected)), { _tag: "Stop" })
    case "framed-fin":
      return sameHex(Result.getOrThrow(relay.fin(0)), expected)
    case "framed-ack":
      return sameHex(Result.getOrThrow(relay.receive(keepalive(counter), 0)).reply, expected)
    case "framed-keepalive": {
      for (let earlier = 0n; earlier < counter; earlier++) relay.tick(Number(earlier + 1n) * 8000, false)
      return sameHex(relay.tick(Number(counter + 1n) * 8000, false).send, expected)
    }
    case "framed-data-empty":
      return assert.deepStrictEqual(Result.getOrThrow(relay.receive(bytes(expected), 0)).events, [])
    case "framed-data": {
      const payload = Buffer.from(input.payload)
      sameHex(Buffer.concat([...Result.getOrThrow(relay.data(payload, 0))]), expected)
      const [event] = Result.getOrThrow(relay.receive(bytes(expected), 0)).events
      return assert.deepStrictEqual(event, { _tag: "Data", bytes: payload })
    }
    default:
      return assert.fail(`no runner for frame ${id}`)
  }
}
