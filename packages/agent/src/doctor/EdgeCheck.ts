/**
 * Doctor checks of the edge: connects as a serving agent does, up to a registration that takes no visitors, and asks whether QUIC
 * answers.
 */
import { clause, ended } from "@catenet/domain/values/Sentence"
import { decodeAddressReply } from "@catenet/wire/frames/QuicRole"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Result } from "effect"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import { Refused, Unreachable } from "../Failure.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import * as EdgeDial from "../tunnel/EdgeDial.ts"
import { requestOf } from "../tunnel/MuxLink.ts"
import { refused, type Registration } from "../tunnel/Registration.ts"
import * as DoctorCheck from "./DoctorCheck.ts"

/** Whether the edge answers by QUIC. Only an agent that wants nothing else depends on it. */
const name = "edge QUIC"

/** The address at which the edge sees this machine. */
const seen = Effect.fnUntraced(function* (edge: HostPort, roots: string) {
  const { dial } = yield* QuicDial
  const connection = yield* dial({ ...edge, roots })
  const reply = yield* QuicRequest.ask(connection, { role: "W" })
  const address = reply && Result.getOrUndefined(decodeAddressReply(reply))
  return address === undefined ? "answers" : `answers; it sees this machine at ${address.value}`
}, Effect.scoped)

export const check = Effect.fnUntraced(function* (transports: ReadonlyArray<Carrier>, edge: HostPort, roots: string) {
  if (!transports.includes("quic")) return DoctorCheck.skipped(name, "not wanted by CT_AGENT_TRANSPORTS")
  const isNeeded = transports.length === 1
  const { isInstalled } = yield* QuicDial
  const asked: Effect.Effect<string, Unreachable, QuicDial> = isInstalled
    ? Effect.mapError(seen(edge, roots), ({ message }) => new Unreachable({ detail: ended(message) }))
    : Effect.fail(new Unreachable({ detail: "The runtime of QUIC is not installed beside this agent." }))
  const found = yield* Effect.result(asked)
  if (Result.isSuccess(found)) return yield* DoctorCheck.run(name, Effect.succeed(found.success))
  const { detail } = found.failure
  if (!isNeeded) return DoctorCheck.skipped(name, `${detail} TLS is used instead.`)
  const fix = isInstalled ? "Open the UDP port in the firewall" : "Install it"
  return yield* DoctorCheck.run(
    name,
    Effect.fail(new Unreachable({ detail: `${detail} ${fix}, or unset CT_AGENT_TRANSPORTS.` }))
  )
})

/** The sentence about the edge's certificate and protocol. */
export const tls = Effect.fnUntraced(function* (edge: HostPort, ca: string) {
  const socket = yield* Effect.mapError(
    EdgeDial.dial(edge, ca, ["ct-edge-mux", "ct-edge"]),
    (error) =>
      new Unreachable({
        detail: error.untrusted
          ? `The edge at ${error.edge} shows a certificate that the root does not cover (${error.why}). Delete the cached root, or correct CT_AGENT_EDGE_CERT_URL.`
          : `${clause(error.message)}. Check CT_AGENT_EDGE, and whether a firewall lets TLS through; CT_AGENT_FALLBACK_443=1 may help.`
      })
  )
  const protocol = socket.alpnProtocol === "ct-edge-mux" ? "multiplexed" : "parked slots"
  socket.destroy()
  return `certificate trusted, ${protocol}`
})

/** Registers without accepting streams, and withdraws. Undefined if the edge does not multiplex: a slot would take a visitor. */
export const token = Effect.fnUntraced(function* (edge: HostPort, ca: string, registration: Registration) {
  const socket = yield* Effect.mapError(
    EdgeDial.dial(edge, ca, ["ct-edge-mux", "ct-edge"]),
    ({ message }) => new Unreachable({ detail: message })
  )
  if (socket.alpnProtocol !== "ct-edge-mux") {
    socket.destroy()
    return undefined
  }
  const mux = new Mux(socket, { side: "dialler" })
  return yield* Effect.gen(function* () {
    const hello = yield* Effect.promise(() => mux.ready)
    if (Result.isFailure(hello))
      return yield* new Unreachable({ detail: `The edge ended the session: ${hello.failure.sentence}` })
    const request = requestOf(registration, socket, hello.success.challenge)
    const answer = yield* Effect.promise(() => mux.register(request))
    if (Result.isSuccess(answer)) {
      answer.success.withdraw()
      return `accepted for ${registration.host ?? "the mesh plane"}`
    }
    const { code, sentence } = answer.failure
    return yield* new Refused({ detail: refused(formatHostPort(edge), code, sentence).message })
  }).pipe(Effect.ensuring(Effect.sync(() => mux.close("normal"))))
})
