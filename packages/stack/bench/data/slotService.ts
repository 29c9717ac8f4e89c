/**
 * An agent of the byte protocol, a process of its own: keeps a pool of parked slots of one role full and joins each that
 * is taken with the origin. Our own agent speaks this protocol only to edges that do not multiplex.
 */
import { parkAgentSlot } from "@catenet/wire/transport/AgentSlot"
import { splice } from "@catenet/wire/transport/Splice"
import { Result } from "effect"
import { connect as connectTcp } from "node:net"
import { connect } from "node:tls"
import type { BrowserRole } from "@catenet/wire/frames/Role"
import { optionsOf, ready } from "./Service.ts"

/** What the parent passes. */
export interface SlotOptions {
  readonly role: BrowserRole
  readonly edge: number
  /** PEM of the edge's root. */
  readonly ca: string
  readonly token: string
  readonly host: string
  readonly origin: number
  readonly pool: number
}

const given: Partial<SlotOptions> = optionsOf()
const { role = "B", edge = 0, ca = "", token = "", host = "", origin = 0, pool = 1 } = given

const dial = () =>
  new Promise<ReturnType<typeof connect>>((resolve, reject) => {
    const raw = connectTcp({ host: "127.0.0.1", port: edge, allowHalfOpen: true, noDelay: true })
    const socket = connect({ socket: raw, servername: "localhost", ca, ALPNProtocols: ["ct-edge"] })
    socket.once("secureConnect", () => resolve(socket))
    socket.once("error", reject)
  })

const park = async () => {
  const slot = await parkAgentSlot(await dial(), { role, token: Buffer.from(token, "hex"), host })
  if (Result.isFailure(slot)) throw new Error(`the slot was refused: ${slot.failure.reason}`)
  return slot.success
}

const keepParked = async (first: Awaited<ReturnType<typeof park>>) => {
  for (let slot = first; ; slot = await park()) {
    const taken = await slot.taken
    if (Result.isFailure(taken)) continue
    void splice(taken.success, connectTcp({ host: "127.0.0.1", port: origin, allowHalfOpen: true, noDelay: true }))
  }
}

for (const slot of await Promise.all(Array.from({ length: pool }, park))) void keepParked(slot)
ready({})
