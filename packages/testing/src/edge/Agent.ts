/** Agents that do what a test tells them, over the wire package. */
import { native } from "@catenet/crypto/native"
import { proofMessage, type RegisterRequest } from "@catenet/wire/frames/MuxRegister"
import { parkAgentSlot } from "@catenet/wire/transport/AgentSlot"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { channelBinding } from "@catenet/wire/transport/ChannelBinding"
import type { OnEcho } from "@catenet/wire/transport/Echoes"
import { Mux, muxAlpn } from "@catenet/wire/transport/Mux"
import { Effect, Result } from "effect"
import { connect as connectTcp } from "node:net"
import type { Duplex } from "node:stream"
import { connect, type TLSSocket } from "node:tls"
import type { TestEdge } from "./TestEdge.ts"

export const tlsTo = (port: number, ca: string, servername: string, alpn: ReadonlyArray<string> = []) =>
  new Promise<TLSSocket>((resolve, reject) => {
    const socket: TLSSocket = connect(
      {
        socket: connectTcp({ host: "127.0.0.1", port, allowHalfOpen: true, noDelay: true }),
        servername,
        ca,
        ...(alpn.length === 0 ? {} : { ALPNProtocols: [...alpn] })
      },
      () => resolve(socket)
    )
    socket.once("error", reject)
    socket.on("error", () => undefined)
  })

export interface MuxAgent {
  readonly mux: Mux
  readonly socket: TLSSocket
  readonly streams: Array<CarrierStream>
  /** With a seed the registration carries a possession proof. */
  readonly register: (
    token: string,
    hosts: ReadonlyArray<string>,
    seed?: Uint8Array,
    more?: Partial<RegisterRequest>
  ) => ReturnType<Mux["register"]>
}

/** A multiplexed agent; `serve` gets every stream, the default echoes. */
export const muxAgent = (
  world: TestEdge,
  serve: (stream: CarrierStream) => void = (stream) => void stream.pipe(stream),
  port = world.mesh,
  onEcho?: OnEcho
) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<MuxAgent> => {
      const streams: Array<CarrierStream> = []
      const socket = await tlsTo(port, world.meshRoot, "localhost", [muxAlpn])
      const mux = new Mux(socket, {
        side: "dialler",
        ...(onEcho === undefined ? {} : { onEcho }),
        onStream: (stream) => {
          streams.push(stream)
          serve(stream)
        }
      })
      return {
        mux,
        socket,
        streams,
        register: async (token, hosts, seed, more) => {
          const named = { token: Buffer.from(token, "hex"), agentId: "test" }
          const answersEchoes = onEcho !== undefined
          const request = { ...named, hosts, wishes: { proxyProtocol: false }, answersEchoes, ...more }
          if (seed === undefined) return mux.register(request)
          const challenge = Result.getOrThrow(await mux.ready).challenge ?? Buffer.alloc(32)
          const binding = Result.getOrThrow(channelBinding(socket, challenge))
          const signature = native.ed25519.sign(seed, proofMessage({ ...named, challenge, binding }))
          return mux.register({ ...request, proof: { publicKey: native.ed25519.publicKey(seed), signature } })
        }
      }
    }),
    ({ mux }) => Effect.sync(() => mux.close("normal"))
  )

/** A multiplexed agent that is registered for the hosts. */
export const servingAgent = Effect.fn("servingAgent")(function* (
  world: TestEdge,
  token: string,
  hosts: ReadonlyArray<string>,
  serve?: (stream: CarrierStream) => void,
  more?: Partial<RegisterRequest>
) {
  const agent = yield* muxAgent(world, serve)
  const registration = yield* Effect.promise(() => agent.register(token, hosts, undefined, more))
  if (Result.isFailure(registration)) throw new Error(`refused: ${registration.failure.code}`)
  return { ...agent, registration: registration.success }
})

/** Parks one slot of the byte protocol; resolves with the stream of its visitor. */
export const slotAgent = (world: TestEdge, token: string, role: "B" | "L" | "F", host: string, port = world.mesh) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = await tlsTo(port, world.meshRoot, "localhost", port === world.mesh ? [] : ["ct-edge"])
      const parked = await parkAgentSlot(socket, { role, token: Buffer.from(token, "hex"), host })
      return { socket, parked }
    }),
    ({ socket }) => Effect.sync(() => void socket.destroy())
  )

/** Everything a stream says until it ends. */
export const readAll = (stream: Duplex) =>
  new Promise<Buffer>((resolve, reject) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.resume()
    stream.once("end", () => resolve(Buffer.concat(chunks)))
    stream.once("error", reject)
    stream.once("close", () => reject(new Error("closed before its end")))
  })

/** Reads until `text` has appeared. */
export const readUntil = (stream: Duplex, text: string) =>
  new Promise<string>((resolve, reject) => {
    let seen = ""
    const take = (chunk: Buffer) => {
      seen += chunk.toString("latin1")
      if (!seen.includes(text)) return
      stream.off("data", take)
      resolve(seen)
    }
    stream.on("data", take)
    stream.resume()
    for (const event of ["end", "close"]) {
      stream.once(event, () => reject(new Error(`ended before ${JSON.stringify(text)}: ${seen}`)))
    }
    stream.once("error", reject)
  })
