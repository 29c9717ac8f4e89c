/**
 * An agent of the byte protocol, a process of its own: keeps a pool of parked slots of one role full and joins each that
 * is taken with the origin, in the mesh roles behind a Noise session. Our own agent speaks this protocol only to edges
 * that do not multiplex.
 */
import * as MeshHandshake from "@catenet/agent/internal/mesh/MeshHandshake"
import { NoiseStream } from "@catenet/agent/internal/mesh/NoiseStream"
import { native } from "@catenet/crypto/native"
import type { SlotRole } from "@catenet/wire/frames/Role"
import { parkAgentSlot } from "@catenet/wire/transport/AgentSlot"
import { splice } from "@catenet/wire/transport/Splice"
import { Effect, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { connect as connectTcp } from "node:net"
import type { Duplex } from "node:stream"
import { connect } from "node:tls"
import { optionsOf, ready } from "./Service.ts"

/** What the parent passes. */
export interface SlotOptions {
  readonly role: SlotRole
  readonly edge: number
  /** PEM of the edge's root. */
  readonly ca: string
  readonly token: string
  readonly host: string
  readonly origin: number
  readonly pool: number
  /** Hex of the origin's secret key; for the mesh roles. */
  readonly secret?: string
}

const given: Partial<SlotOptions> = optionsOf()
const { role = "B", edge = 0, ca = "", token = "", host = "", origin = 0, pool = 1, secret = "" } = given
const key = Buffer.from(token, "hex")
const admission = role === "A" || role === "K" ? { role, token: key } : { role, token: key, host }

const dial = () =>
  new Promise<ReturnType<typeof connect>>((resolve, reject) => {
    const raw = connectTcp({ host: "127.0.0.1", port: edge, allowHalfOpen: true, noDelay: true })
    const socket = connect({ socket: raw, servername: "localhost", ca, ALPNProtocols: ["ct-edge"] })
    socket.once("secureConnect", () => resolve(socket))
    socket.once("error", reject)
  })

const park = async () => {
  const slot = await parkAgentSlot(await dial(), admission)
  if (Result.isFailure(slot)) throw new Error(`the slot was refused: ${slot.failure.reason}`)
  return slot.success
}

const nothing = new Uint8Array()
const unsealed = async (stream: Duplex) => {
  const keys = [native.x25519.keyPair(Buffer.from(secret, "hex"))]
  const { session } = await Effect.runPromise(
    MeshHandshake.answer(stream, keys, () => Result.succeed(nothing)).pipe(Effect.provide(SecureRandom.layerWebCrypto))
  )
  return new NoiseStream(stream, session)
}

const serve = async (stream: Duplex) => {
  const plain = secret === "" ? stream : await unsealed(stream)
  void splice(plain, connectTcp({ host: "127.0.0.1", port: origin, allowHalfOpen: true, noDelay: true }))
}

const keepParked = async (first: Awaited<ReturnType<typeof park>>) => {
  for (let slot = first; ; slot = await park()) {
    const taken = await slot.taken
    if (Result.isSuccess(taken)) void serve(taken.success)
  }
}

for (const slot of await Promise.all(Array.from({ length: pool }, park))) void keepParked(slot)
ready({})
