/**
 * TLS-ALPN-01 (RFC 8737): while a challenge for a host of this tunnel is pending, the agent answers a validating CA itself.
 * Otherwise the origin may answer if it terminates TLS and the access window is open; else the CA gets a TLS alert. Other
 * visitors are unaffected. Streams that are forwarded unread are inspected only while a challenge is pending.
 */
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { splice } from "@catenet/wire/transport/Splice"
import { Duration, Effect, FileSystem } from "effect"
import type { Duplex } from "node:stream"
import type { SecureContext } from "node:tls"
import * as Challenges from "../certificate/Challenges.ts"
import type { AgentMetrics } from "../observe/AgentMetrics.ts"
import { type Handler, proxyHeader } from "./BrowserClients.ts"
import type { OpenOrigin } from "./OriginConnections.ts"
import { awaitReadable } from "./StreamHelloPeek.ts"
import * as StreamHelloPeek from "./StreamHelloPeek.ts"
import * as TlsTermination from "./TlsTermination.ts"

const acmeAlpn = "acme-tls/1"
const answerMillis = 10_000
/** A fatal alert no_application_protocol (RFC 8446 section 6). */
const noApplicationProtocol = Buffer.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 120)

/** A TLS server begins with an alert, or with a handshake record whose first message is a ServerHello. */
const answersTls = ([type, , , , , message = 2]: Uint8Array) => type === 0x15 || (type === 0x16 && message === 2)

const refuse = (stream: Duplex) => {
  stream.end(noApplicationProtocol)
  stream.resume()
}

/** A client that offers more than this protocol is a visitor (RFC 8737 section 3). */
const isValidation = ([first, ...others]: ReadonlyArray<string>) => first === acmeAlpn && others.length === 0

const nothing = new Uint8Array()

/** Identifies a slot's client by its hello: slots do not say what a stream is. */
const byHello = (stream: Duplex) =>
  Effect.map(StreamHelloPeek.peek(stream), ({ hello, taken }) => ({
    host: hello !== undefined && isValidation(hello.alpn) ? hello.serverName : undefined,
    taken
  }))

/** Shows the challenge certificate and returns whether the CA accepted it. No byte follows the handshake. */
const show = (stream: Duplex, secureContext: SecureContext, ending: AgentMetrics["Service"]["ending"]) =>
  Effect.callback<boolean>((resume) => {
    const socket = TlsTermination.openTlsServerSocket(stream, { secureContext, ALPNProtocols: [acmeAlpn] }, ending)
    const gone = () => resume(Effect.succeed(false))
    socket.on("error", gone)
    socket.once("close", gone)
    socket.once("secure", () => {
      socket.end()
      socket.resume()
      resume(Effect.succeed(true))
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: answerMillis,
      orElse: () => Effect.sync(() => (stream.destroy(), false))
    })
  )

/** Lets the origin answer. False if it is down or does not speak TLS; then nothing was sent to the client. */
const byOrigin = Effect.fnUntraced(
  function* (origin: OpenOrigin, stream: Duplex, header: OpenHeader | undefined) {
    const { taken } = yield* StreamHelloPeek.peek(stream)
    const socket = yield* origin.pass(origin.proxyProtocol === "v2" ? proxyHeader(header) : undefined)
    socket.write(taken)
    const hello: Buffer | null = stream.read()
    if (hello !== null) socket.write(hello)
    const answered = yield* Effect.timeoutOrElse(awaitReadable(socket), {
      duration: answerMillis,
      orElse: () => Effect.succeed(false)
    }).pipe(Effect.onInterrupt(() => Effect.sync(() => void socket.destroy())))
    const first: Buffer | null = answered ? socket.read() : null
    if (first === null || !answersTls(first)) {
      socket.destroy()
      return false
    }
    stream.write(first)
    yield* Effect.promise((signal) => splice(stream, socket, { signal }))
    return true
  },
  (asked) => Effect.catchTag(asked, "OriginDown", () => Effect.succeed(false))
)

/** Answers validations, and leaves every other visitor to `ordinary`. */
export const make = Effect.fnUntraced(function* (
  stateDir: string,
  origin: OpenOrigin,
  metrics: AgentMetrics["Service"],
  ordinary: Handler
) {
  const fs = yield* FileSystem.FileSystem

  /** The host being validated; undefined for all other visitors. */
  const validated = Effect.fnUntraced(function* (stream: Duplex, header: OpenHeader | undefined) {
    if (header !== undefined) return { host: header.kind === "acme" ? header.host : undefined, taken: nothing }
    // An origin that gets the bytes unchanged answers CAs itself, so they are not inspected.
    const looks = origin.terminate !== undefined || (yield* Challenges.somePending(stateDir))
    return looks ? yield* byHello(stream) : { host: undefined, taken: nothing }
  })

  const serve: Handler = Effect.fnUntraced(
    function* (stream, header) {
      const { host, taken } = yield* validated(stream, header)
      if (host === undefined) return yield* ordinary(stream, header, taken)
      const challenge = yield* Challenges.pending(stateDir, host)
      if (challenge === undefined) {
        const mayAsk = origin.terminate === undefined && header?.challengeOnly !== true
        if (mayAsk && (yield* byOrigin(origin, stream, header))) return
        yield* Effect.logInfo(`${host} is being validated, and no challenge is pending`)
        return refuse(stream)
      }
      const [took, shown] = yield* Effect.timed(show(stream, challenge, metrics.ending))
      if (shown) {
        metrics.traffic.handshakes++
        metrics.traffic.handshakeMillis += Duration.toMillis(took)
      }
      yield* Effect.logInfo(shown ? `${host} was validated` : `the validation of ${host} broke off`)
    },
    (serving) => Effect.provideService(serving, FileSystem.FileSystem, fs)
  )
  return serve
})
