/** Whether the edge answers by QUIC. Only an agent that wants nothing else depends on it. */
import { ended } from "@catenet/domain/values/Sentence"
import { decodeAddressReply } from "@catenet/wire/frames/QuicRole"
import { Effect, Result } from "effect"
import { QuicDial } from "../carrier/QuicDial.ts"
import * as QuicRequest from "../carrier/QuicRequest.ts"
import { Unreachable } from "../Failure.ts"
import type { HostPort } from "../settings/HostPort.ts"
import type { Carrier } from "../settings/TunnelTransports.ts"
import * as DoctorCheck from "./DoctorCheck.ts"

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
