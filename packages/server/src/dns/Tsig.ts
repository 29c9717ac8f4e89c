/**
 * Transaction signatures (RFC 8945) by HMAC-SHA256: who holds the key may change the zone, and an answer is from the
 * server that holds it. Nothing else of the standard is spoken.
 */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { native } from "@catenet/crypto/native"
import { Option, Redacted } from "effect"
import * as Message from "./DnsMessage.ts"

export interface Key {
  readonly name: string
  readonly secret: Redacted.Redacted<Uint8Array>
}

/** A message with its signature, which the answer's is computed over. */
export interface Signed {
  readonly message: Uint8Array
  readonly mac: Uint8Array
}

const algorithm = "hmac-sha256"
/** Seconds by which clocks may differ. */
const fudge = 300

const hmac = (key: Key, ...parts: ReadonlyArray<Uint8Array>) =>
  native.hmacSha256(Redacted.value(key.secret), Bytes.concat(...parts))

/** 48 bits. */
const time = (seconds: number) =>
  Bytes.concat(Message.uint16(Math.floor(seconds / 2 ** 32)), Message.uint32(seconds % 2 ** 32))

/** What is signed beside the message. */
const variables = (key: Key, timers: Uint8Array, trailer: Uint8Array) =>
  Bytes.concat(
    Message.name(key.name),
    Message.uint16(Message.Class.ANY),
    Message.uint32(0),
    Message.name(algorithm),
    timers,
    trailer
  )

const withAdditional = (message: Uint8Array, change: number) => {
  const copy = Uint8Array.from(message)
  const view = new DataView(copy.buffer)
  view.setUint16(10, view.getUint16(10) + change)
  return copy
}

/** Signs a message at a time in unix seconds. */
export const sign = (message: Uint8Array, key: Key, now: number): Signed => {
  const timers = Bytes.concat(time(now), Message.uint16(fudge))
  const trailer = Bytes.concat(Message.uint16(0), Message.uint16(0))
  const mac = hmac(key, message, variables(key, timers, trailer))
  const data = Bytes.concat(
    Message.name(algorithm),
    timers,
    Message.uint16(mac.length),
    mac,
    message.subarray(0, 2),
    trailer
  )
  const { ANY } = Message.Class
  const signature = Message.record({ name: key.name, type: Message.Type.TSIG, class: ANY, ttl: 0, data })
  return { message: Bytes.concat(withAdditional(message, 1), signature), mac }
}

/** The parts of a signature's data, where it is one of this algorithm. */
const partsOf = (data: Uint8Array) => {
  const named = Message.name(algorithm)
  if (data.length < named.length + 16 || !ConstantTime.equal(data.subarray(0, named.length), named)) {
    return Option.none()
  }
  const rest = data.subarray(named.length)
  const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength)
  const end = 10 + view.getUint16(8)
  if (rest.length < end + 6) return Option.none()
  return Option.some({
    timers: rest.subarray(0, 8),
    signedAt: view.getUint16(0) * 2 ** 32 + view.getUint32(2),
    mac: rest.subarray(10, end),
    originalId: rest.subarray(end, end + 2),
    trailer: rest.subarray(end + 2)
  })
}

const isOf = (signature: Message.Found, key: Key) =>
  signature.type === Message.Type.TSIG &&
  signature.class === Message.Class.ANY &&
  signature.ttl === 0 &&
  signature.name === key.name.toLowerCase().replace(/\.$/, "")

/** Whether an answer to a signed message was signed with the same key, just now. */
export const verify = (bytes: Uint8Array, answer: Message.Answer, request: Signed, key: Key, now: number): boolean => {
  const signature = answer.additional.at(-1)
  if (signature === undefined || !isOf(signature, key)) return false
  const parts = Option.getOrUndefined(partsOf(signature.data))
  if (parts === undefined || Math.abs(now - parts.signedAt) > fudge) return false
  const unsigned = withAdditional(bytes.subarray(0, signature.start), -1)
  unsigned.set(parts.originalId)
  const expected = hmac(
    key,
    Message.uint16(request.mac.length),
    request.mac,
    unsigned,
    variables(key, parts.timers, parts.trailer)
  )
  return ConstantTime.equal(expected, parts.mac)
}
