/** Connects to another edge at its mesh port, authenticated by the shared CA and the common admin token. */
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { type Admission, decodeReply, encodeAdmission } from "@catenet/wire/frames/Role"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Clock, Data, Effect, Result } from "effect"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { Counters } from "../observe/Counters.ts"

const dialTimeout = "10 seconds"
const replyMillis = 10_000

export const dial = (address: Address, ca: string, ending: (socket: Socket) => OnFault) =>
  Effect.callback<TLSSocket, Error>((resume) => {
    const raw = Sockets.dialTcp({ ...address, allowHalfOpen: true, noDelay: true })
    const socket = Sockets.dialTls({ socket: raw, servername: "localhost", ca, minVersion: "TLSv1.2" })
    for (const one of [raw, socket]) guard(one, ending(raw))
    raw.on("error", (error) => resume(Effect.fail(error)))
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.once("secureConnect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => raw.destroy())
  }).pipe(Effect.timeout(dialTimeout))

/** Error codes of TLS when the other edge has a certificate of another root. */
const ofAnotherRoot: ReadonlySet<string> = new Set([
  "CERT_SIGNATURE_FAILURE",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

const remedyOf = (error: Error) => {
  if (error instanceof PeerRefused)
    return "set CT_EDGE_MESH_RELAY_ENABLED=1 and the same CT_EDGE_ADMIN_TOKEN at both edges"
  if ("code" in error && typeof error.code === "string" && ofAnotherRoot.has(error.code))
    return "the edges have different roots: copy edge-ca-key.pem and edge-ca-cert.der from one edge to all others and restart them"
  return "check that the other edge runs, and that its mesh port can be reached from here"
}

/** The other edge refused the connection. */
export class PeerRefused extends Data.TaggedError("PeerRefused")<{}> {
  override get message() {
    return "the other edge refused the connection"
  }
}

const logEveryMillis = 60_000

/** Counts failed connections to other edges, and logs the first per minute and edge with a remedy. */
export const makeFailures = Effect.gen(function* () {
  const counters = yield* Counters
  const logged = new Map<string, number>()
  return Effect.fn("PeerDial.failed")(function* (peer: string, error: Error) {
    counters.peerDialsFailed += 1
    const now = yield* Clock.currentTimeMillis
    for (const [other, at] of logged) if (now < at || now - at >= logEveryMillis) logged.delete(other)
    if (logged.has(peer)) return
    logged.set(peer, now)
    yield* Effect.logWarning("another edge could not be reached").pipe(
      Effect.annotateLogs({ peer, reason: error.message, remedy: remedyOf(error) })
    )
  })
})

/** Sends the role of the connection; true if the peer accepts it. */
export const introduce = (socket: TLSSocket, admission: Extract<Admission, { readonly role: "M" | "H" }>) =>
  Effect.promise(async () => {
    const reader = new FrameReader(socket)
    socket.write(encodeAdmission(admission))
    const reply = await reader.next(decodeReply, replyMillis)
    reader.release()
    return Result.isSuccess(reply) && reply.success
  })
