/**
 * One attempt to register: the edge's address, then its port 443 when that is allowed. Each is dialled once with both of our
 * protocols on offer (the byte protocol alone with CT_AGENT_REGISTER_TCP_ONLY), and the one that the edge selected is spoken.
 */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Effect } from "effect"
import { ConnectionInfo } from "../onboard/ConnectionInfo.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { Settings } from "../settings/Settings.ts"
import * as EdgeDial from "./EdgeDial.ts"
import * as MuxLink from "./MuxLink.ts"
import type { Registration } from "./Registration.ts"
import * as SlotLink from "./SlotLink.ts"

const muxAlpn = "ct-edge-mux"
const slotAlpn = "ct-edge"

/** The addresses to try, in order. */
export const candidates = (edge: HostPort, fallback443: boolean): ReadonlyArray<HostPort> =>
  fallback443 && edge.port !== 443 ? [edge, { host: edge.host, port: 443 }] : [edge]

const dial = (info: ConnectionInfo["Service"], address: HostPort, alpn: ReadonlyArray<string>) =>
  Effect.flatMap(info.ca, (ca) => EdgeDial.dial(address, ca, alpn)).pipe(
    // The pinned root may have been replaced at the edge: fetch it again, and dial once more when it has changed.
    Effect.catchIf(
      (error) => error._tag === "DialFailed" && error.untrusted,
      (error) =>
        Effect.flatMap(info.refreshCa, (ca) =>
          ca === undefined ? Effect.fail(error) : EdgeDial.dial(address, ca, alpn)
        )
    )
  )

/** An additional link to an edge that is linked already, if it leads to a `wanted` process. It lives in the scope. */
export const additionalLink = Effect.fn("Establish.additionalLink")(function* (
  info: ConnectionInfo["Service"],
  edge: string,
  address: HostPort,
  registration: Registration,
  serve: MuxLink.Serve,
  wanted: (edgeProcess: EdgeProcess | undefined) => boolean
) {
  const socket = yield* Effect.acquireRelease(
    dial(info, address, [muxAlpn]),
    (socket) => Effect.sync(() => socket.destroy()),
    { interruptible: true }
  )
  return yield* MuxLink.open(edge, socket, registration, serve, wanted)
})

/** A link on the first candidate that works. The link lives in the scope; the error is that of the first candidate. */
export const establish = Effect.fn("Establish.establish")(function* (
  settings: Settings,
  registration: Registration,
  serve: MuxLink.Serve
) {
  const info = yield* ConnectionInfo
  const on = Effect.fnUntraced(function* (address: HostPort) {
    const edge = formatHostPort(address)
    const socket = yield* Effect.acquireRelease(
      dial(info, address, settings.tcpOnly ? [slotAlpn] : [muxAlpn, slotAlpn]),
      (socket) => Effect.sync(() => socket.destroy()),
      { interruptible: true }
    )
    if (socket.alpnProtocol === muxAlpn) return yield* MuxLink.open(edge, socket, registration, serve)
    const { poolSize, maxServing, framed } = settings
    const again = dial(info, address, [slotAlpn])
    return yield* SlotLink.open({ edge, dial: again, registration, serve, poolSize, maxServing, framed }, socket)
  })
  const [first, ...others] = candidates(yield* info.edge, settings.fallback443)
  let attempt = first === undefined ? Effect.die("no candidate") : on(first)
  for (const candidate of others)
    attempt = Effect.catchIf(
      attempt,
      (error) => error._tag !== "RegistrationRefused",
      (error) => Effect.mapError(on(candidate), (later) => (later._tag === "RegistrationRefused" ? later : error))
    )
  return yield* attempt
})
