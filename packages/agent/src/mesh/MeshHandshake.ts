/**
 * The Noise handshake of the mesh plane on a raw stream (data-plane.md 4.3): IK, framed messages, and an empty prologue unless the
 * members of a channel have agreed on a key exchange. A third message makes it hybrid if both sides mark their keys.
 */
import { type Agreement, classical, type Name as KeyExchange } from "@catenet/crypto/admission/KeyExchange"
import * as Bytes from "@catenet/crypto/Bytes"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { native } from "@catenet/crypto/native"
import type { Handshake } from "@catenet/crypto/noise/Handshake"
import { entropyLength, initiate, type Options, respond } from "@catenet/crypto/noise/Noise"
import * as NoiseFrame from "@catenet/crypto/noise/NoiseFrame"
import type { KeyPair } from "@catenet/crypto/Suite"
import { isIP } from "@catenet/platform/IpAddress"
import { Data, Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Duplex } from "node:stream"
import { formatHostPort, type HostPort, parseHostPort } from "../settings/HostPort.ts"
import type { Session } from "./NoiseStream.ts"

/**
 * Messages about a direct path in the payloads of the Noise handshake, which no third party can read or change. Through the edge,
 * a client may ask where the origin can be reached directly; a client that knows this expects the origin to wait for its first
 * frame. On the direct path it shows a token that only holders of the capability know: the tunnel's visitor token, or in older
 * capabilities its routing token.
 */
const ticketMark = 1
const questionMark = 2

/** The first message's payload that asks for the direct address. */
export const question = Uint8Array.of(questionMark)

/** The payload of a first message on the direct path (data-plane.md 4.6). */
export const ticket = (token: Uint8Array) => Uint8Array.from([ticketMark, ...token])

export type Payload =
  { readonly _tag: "Nothing" | "Question" } | { readonly _tag: "Ticket"; readonly token: Uint8Array }

/** A client's first message; undefined if it is none of these. */
export const readPayload = (payload: Uint8Array): Payload | undefined => {
  if (payload.length === 0) return { _tag: "Nothing" }
  if (payload.length === 1 && payload[0] === questionMark) return { _tag: "Question" }
  return payload.length === 33 && payload[0] === ticketMark ? { _tag: "Ticket", token: payload.subarray(1) } : undefined
}

const utf8 = new TextEncoder()

/** The second message's payload with the address; empty without a direct path. */
export const answerDirectQuestion = (listener: HostPort | undefined) =>
  listener === undefined ? new Uint8Array() : Uint8Array.from([questionMark, ...utf8.encode(formatHostPort(listener))])

/** The address in the second message; undefined if there is none that can be dialed. */
export const readAnswer = (payload: Uint8Array): HostPort | undefined => {
  if (payload[0] !== questionMark) return undefined
  const address = parseHostPort(new TextDecoder().decode(payload.subarray(1)))
  return address !== undefined && address.port > 0 && isIP(address.host) !== 0 ? address : undefined
}

/** The peer did not prove its key, did not answer in time, or went away. */
export class HandshakeFailed extends Data.TaggedError("HandshakeFailed")<{
  readonly why: string
  /** The peer knew the origin's key, but its message was refused. */
  readonly forUs: boolean
  /** The peer disconnected before it sent a message. */
  readonly hasLeft: boolean
  /** The next step, if it is not the usual one. */
  readonly advice?: string | undefined
}> {
  override get message() {
    return `Noise handshake: ${this.why}`
  }
}

const handshakeMillis = 10_000
const nothing = new Uint8Array()

/** The second message's payload of an origin that refuses a marked peer for the reason of `dropped`. */
const droppedMark = Uint8Array.of(3)

/** Both members mark their keys, and the edge of one says that it carries offers and that the other made none. */
const dropped = new HandshakeFailed({
  why: "both members offer post-quantum key exchange, but the edge removed an offer",
  forUs: true,
  hasLeft: false,
  advice:
    "Somebody at the edge or on the way to it changes what members say. Ask the edge's operator; CT_CHANNEL_POST_QUANTUM=off at " +
    "both members goes on without it."
})

const onlyClassical = (required: string) =>
  new HandshakeFailed({
    why: "the peer uses no post-quantum key exchange",
    forUs: true,
    hasLeft: false,
    advice: `${required[0]?.toUpperCase() ?? ""}${required.slice(1)}.`
  })

const failed = (why: string) => new HandshakeFailed({ why, forUs: false, hasLeft: false })

/** The second message's payload for the first's, or why there is none. */
export type Reply = (payload: Uint8Array) => Result.Result<Uint8Array, string>

type Received = Pick<Session, "decoder" | "early"> & { readonly message: Uint8Array }

/** The next framed message, and the decoder with the rest. The stream is left paused. */
const nextMessage = (
  stream: Duplex,
  { decoder, early: [waiting, ...others] }: Pick<Session, "decoder" | "early"> = {
    decoder: new NoiseFrame.FrameDecoder(),
    early: []
  }
): Effect.Effect<Received, HandshakeFailed> =>
  waiting !== undefined
    ? Effect.succeed({ message: waiting, decoder, early: others })
    : Effect.callback<Received, HandshakeFailed>((resume) => {
        const cleanup = () => {
          stream.off("data", data)
          stream.off("end", ended)
          stream.off("close", ended)
          stream.off("error", broken)
          stream.pause()
        }
        let isSilent = true
        const left = (why: string) => {
          cleanup()
          resume(Effect.fail(new HandshakeFailed({ why, forUs: false, hasLeft: isSilent })))
        }
        const data = (chunk: Uint8Array) => {
          isSilent = false
          const pushed = decoder.push(chunk)
          if (Result.isFailure(pushed)) {
            cleanup()
            return resume(Effect.fail(failed(pushed.failure.message)))
          }
          const [message, ...early] = pushed.success
          if (message === undefined) return
          cleanup()
          resume(
            Effect.succeed({ message: Bytes.copy(message), decoder, early: early.map((each) => Bytes.copy(each)) })
          )
        }
        const ended = () => left("the peer closed the connection")
        const broken = (error: Error) => left(error.message)
        stream.on("data", data)
        stream.on("end", ended)
        stream.on("close", ended)
        stream.on("error", broken)
        // The previous owner left it paused.
        stream.resume()
        return Effect.sync(cleanup)
      }).pipe(
        Effect.timeoutOrElse({
          duration: handshakeMillis,
          orElse: () => Effect.fail(failed(`nothing within ${handshakeMillis / 1000} s`))
        })
      )

const send = (stream: Duplex, message: Uint8Array) =>
  Result.match(NoiseFrame.encode(message), {
    onSuccess: (frame) => Effect.sync(() => void stream.write(frame)),
    onFailure: (error) => Effect.fail(failed(error.message))
  })

/** The last message of a stream that the caller destroys afterwards. */
const flush = (stream: Duplex, message: Uint8Array) =>
  Effect.andThen(
    send(stream, message),
    Effect.callback<void>((resume) => void stream.write(new Uint8Array(), () => resume(Effect.void)))
  ).pipe(Effect.timeoutOption("2 seconds"))

const orFail = <A, E extends { readonly message: string }>(result: Result.Result<A, E>) =>
  Effect.fromResult(Result.mapError(result, ({ message }) => failed(message)))

/** How the keys of a handshake are agreed, once the first message of the peer is read. */
const settle = (
  { isCarried, isUnanswered, pattern, required }: Agreement,
  handshake: Handshake
): Effect.Effect<KeyExchange, HandshakeFailed> => {
  const isAgreedLate = isUnanswered && handshake.peerWouldBeHybrid
  const name = isAgreedLate || pattern === "IKhfs" ? "x25519mlkem768" : "x25519"
  if (isAgreedLate && isCarried) return Effect.fail(dropped)
  return name === "x25519" && required !== undefined ? Effect.fail(onlyClassical(required)) : Effect.succeed(name)
}

/** A handshake that is cleared when the scope ends, however it ends. */
const start = (
  side: typeof initiate | typeof respond,
  { isUnanswered, pattern, prologue }: Agreement,
  keys: Pick<Options, "static" | "remoteStatic">
) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const random = yield* SecureRandom.SecureRandom
      const entropy = yield* random.randomBytes(entropyLength(pattern, isUnanswered))
      return yield* orFail(side(native, { pattern, prologue, entropy, wouldBeHybrid: isUnanswered, ...keys }))
    }),
    (handshake) => Effect.sync(() => handshake.abandon())
  )

/**
 * The origin's side. Every key is tried on the first message, and the one that decrypts it answers. With `expected`, an initiator
 * with another static key gets no response at all.
 */
export const answer = Effect.fn("MeshHandshake.answer")(function* (
  stream: Duplex,
  keys: ReadonlyArray<KeyPair>,
  reply: Reply,
  expected?: Uint8Array,
  agreement: Agreement = classical
) {
  const first = yield* nextMessage(stream)
  for (const key of keys) {
    const handshake = yield* start(respond, agreement, { static: key })
    const opened = handshake.readMessage(first.message)
    if (Result.isFailure(opened)) continue
    const refused = (why: string) => new HandshakeFailed({ why, forUs: true, hasLeft: false })
    if (expected !== undefined && !ConstantTime.equal(expected, handshake.remoteStatic ?? nothing))
      return yield* refused("the peer proved another key than the attested one")
    const keyExchange = yield* settle(agreement, handshake).pipe(
      Effect.tapError((error) =>
        error === dropped
          ? Effect.flatMap(orFail(handshake.writeMessage(droppedMark)), (message) => flush(stream, message))
          : Effect.void
      )
    )
    const answer = reply(opened.success)
    if (Result.isFailure(answer)) return yield* refused(answer.failure)
    yield* send(stream, yield* orFail(handshake.writeMessage(answer.success)))
    let { decoder, early } = first
    if (handshake.next === "read") {
      const last = yield* nextMessage(stream, first)
      yield* orFail(handshake.readMessage(last.message))
      ;({ decoder, early } = last)
    }
    const session: Session = { transport: yield* orFail(handshake.finish()), decoder, early, keyExchange }
    return { session, answer: answer.success }
  }
  return yield* failed("the first message is for none of this origin's keys")
}, Effect.scoped)

const freshKey = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const secret = yield* random.randomBytes(32)
  const pair = native.x25519.keyPair(secret)
  secret.fill(0)
  return pair
})

/** The client's side. Without `own` it uses a new static key for this session. Returns the session and the origin's payload. */
export const begin = Effect.fn("MeshHandshake.begin")(function* (
  stream: Duplex,
  originKey: Uint8Array,
  payload: Uint8Array,
  own?: KeyPair,
  agreement: Agreement = classical
) {
  const handshake = yield* start(initiate, agreement, { static: own ?? (yield* freshKey), remoteStatic: originKey })
  yield* send(stream, yield* orFail(handshake.writeMessage(payload)))
  const { message, decoder, early } = yield* nextMessage(stream)
  const said = yield* orFail(handshake.readMessage(message))
  const keyExchange = yield* settle(agreement, handshake)
  if (handshake.next === "write") {
    if (Bytes.equal(said, droppedMark)) return yield* dropped
    yield* send(stream, yield* orFail(handshake.writeMessage()))
  }
  const session: Session = { transport: yield* orFail(handshake.finish()), decoder, early, keyExchange }
  return { session, said }
}, Effect.scoped)
