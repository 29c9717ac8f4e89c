/**
 * Opens a TLS connection to the edge. The edge's certificate is verified only against the pinned root, for the requested name
 * (`localhost` by default); the address is resolved at every dial.
 */
import { Sockets } from "@catenet/platform/Sockets"
import { Data, Effect } from "effect"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { keepAliveMillis } from "../carrier/OutgoingProxy.ts"
import * as OutgoingProxy from "../carrier/OutgoingProxy.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

/**
 * No usable connection to the edge. `untrusted`: its certificate is not from the pinned root; `isRefused`: connection refused, as
 * during a restart; `isTorn`: closed during the TLS handshake, as by an edge that limits this member.
 */
export class DialFailed extends Data.TaggedError("DialFailed")<{
  readonly edge: string
  readonly why: string
  readonly untrusted: boolean
  readonly isRefused?: boolean
  readonly isTorn?: boolean
}> {
  override get message() {
    return `edge ${this.edge}: ${this.why}`
  }
}

const certificateErrors = new Set([
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID"
])

/** Whether the certificate of the other side is the reason. */
export const isUntrusted = (error: Error): boolean => certificateErrors.has(codeOf(error) ?? "")

/** The codes of a connection that the other side closes in order, which has none, or by a reset. */
const closes = new Set([undefined, "ECONNRESET", "EPIPE"])

const codeOf = (error: Error) => ("code" in error && typeof error.code === "string" ? error.code : undefined)

const dialMillis = 10_000

/** Of the multiplexed carrier. */
export const muxAlpn = "ct-edge-mux"

export interface DialOptions {
  readonly serverName?: string
  readonly millis?: number
}

/**
 * A connected socket that allows half-open use. `alpn` is offered; `alpnProtocol` is selected. Without a root no certificate is
 * checked, so only what is sent on the connection can prove anything.
 */
export const dial = Effect.fn("EdgeDial.dial")(function* (
  address: HostPort,
  ca: string | undefined,
  alpn: ReadonlyArray<string>,
  { millis = dialMillis, serverName = "localhost" }: DialOptions = {}
): Effect.fn.Return<TLSSocket, DialFailed> {
  const edge = formatHostPort(address)
  const proxy = yield* OutgoingProxy.proxyForEdge(address)
  const proxied =
    proxy &&
    Effect.mapError(
      OutgoingProxy.stream(proxy, address),
      ({ message }) => new DialFailed({ edge, why: message, untrusted: false })
    )
  const tls = (below: Socket | undefined) =>
    Effect.callback<TLSSocket, DialFailed>((resume) => {
      const options = {
        ...(below === undefined ? address : { socket: below }),
        servername: serverName,
        ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
        ALPNProtocols: [...alpn],
        allowHalfOpen: true,
        minVersion: "TLSv1.2" as const
      }
      const socket = Sockets.dialTls(options)
      const failed = (error: Error) => {
        const code = codeOf(error)
        // After the semicolon, Node appends advice for programs that trust the system's roots.
        const why = error.message === "" ? (code ?? "the connection failed") : error.message.replace(/;.*$/s, "")
        const isRefused = code === "ECONNREFUSED" || code === "ECONNRESET"
        const isTorn = closes.has(code)
        resume(Effect.fail(new DialFailed({ edge, why, untrusted: isUntrusted(error), isRefused, isTorn })))
      }
      const ended = () => failed(new Error("the edge closed the connection during the TLS handshake"))
      socket.once("error", failed)
      socket.once("close", ended)
      socket.once("secureConnect", () => {
        socket.off("error", failed)
        socket.off("close", ended)
        // The next owner of the socket listens for its end; an error in between must not be fatal.
        socket.on("error", () => {})
        socket.setNoDelay(true)
        socket.setKeepAlive(true, keepAliveMillis)
        resume(Effect.succeed(socket))
      })
      return Effect.sync(() => {
        socket.on("error", () => {})
        socket.destroy()
      })
    })
  return yield* Effect.flatMap(proxied ?? Effect.undefined, tls).pipe(
    Effect.timeoutOrElse({
      duration: millis,
      orElse: () =>
        Effect.fail(new DialFailed({ edge, why: `no TLS connection within ${millis / 1000} s`, untrusted: false }))
    })
  )
})
