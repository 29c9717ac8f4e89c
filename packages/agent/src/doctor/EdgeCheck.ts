/** Asks an edge the way a serving agent does, as far as a registration that takes no visitors. */
import { clause } from "@catenet/domain/values/Sentence"
import { Mux } from "@catenet/wire/transport/Mux"
import { Effect, Result } from "effect"
import { Refused, Unreachable } from "../Failure.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import * as EdgeDial from "../tunnel/EdgeDial.ts"
import { requestOf } from "../tunnel/MuxLink.ts"
import { refused, type Registration } from "../tunnel/Registration.ts"

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

/** Registers without taking streams, and withdraws. Undefined when the edge does not multiplex: a slot would take a visitor. */
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
