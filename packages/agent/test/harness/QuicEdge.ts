/** The UDP port of an edge for tests, as one of the reference kind has it (data-plane 2): agents register, clients come to them. */
import type { Leaf } from "@catenet/testing/agent/Authority"
import { serveClient } from "@catenet/testing/agent/MeshEdge"
import { eventually } from "@catenet/testing/Eventually"
import { UdpLink } from "@catenet/testing/wire/quic/UdpLink"
import { encodeAddressReply, encodePeerReply, decodeQuicRole, type DirectListener } from "@catenet/wire/frames/QuicRole"
import { admittedReply, refusedReply } from "@catenet/wire/frames/Role"
import * as Quic from "@catenet/wire/quic/process/QuicProcess"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import type { CarrierStream } from "@catenet/wire/transport/Carrier"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Effect, Exit, Result, Scope } from "effect"

const program = QuicProgram.find()
export const noQuic = program === undefined
if (noQuic) process.stderr.write("\nSKIPPED: the tests of QUIC need the runtime of this platform.\n\n")

export interface QuicEdge extends AsyncDisposable {
  /** What agents and clients reach it by. */
  readonly link: UdpLink
  /** Connections that have registered, the newest last. */
  readonly agents: Array<QuicConnection>
  /** `A`, and the names that were bound. */
  readonly registered: Array<string>
  readonly directs: Array<DirectListener>
  /** Every role that was said. */
  readonly roles: Array<string>
  /** The id of its QUIC process. */
  readonly pid: () => number
  /** Another client of its process. */
  readonly dial: (port: number, roots: string) => Promise<QuicConnection>
  /** Opens a stream to the newest agent, once there is one. */
  readonly open: () => Promise<CarrierStream>
  /** Refuses every registration from now on. */
  refuse: boolean
}

export const startQuicEdge = async (leaf: Leaf, port: number, idle = 10_000): Promise<QuicEdge> => {
  if (program === undefined) throw new Error("no runtime of QUIC")
  const scope = await Effect.runPromise(Scope.make())
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Scope.provide(effect, scope))
  const quic = await run(Quic.start(program))
  const all = new Set<QuicConnection>()

  const answer = async (connection: QuicConnection, stream: CarrierStream) => {
    const reader = new FrameReader(stream)
    const read = await reader.next(decodeQuicRole, 10_000)
    reader.release()
    if (Result.isFailure(read)) return stream.reset("protocol", "no role")
    const role = read.success
    edge.roles.push(role.role)
    if (role.role === "C") return void serveClient(stream, () => edge.open())
    stream.resume()
    switch (role.role) {
      case "A":
      case "H":
        if (edge.refuse) return void stream.end(refusedReply)
        edge.registered.push(role.role === "H" ? role.host : "A")
        if (!edge.agents.includes(connection)) edge.agents.push(connection)
        return void stream.end(admittedReply)
      case "D":
        edge.directs.push(role.listener)
        return void stream.end(admittedReply)
      case "P":
        return void stream.end(encodePeerReply(edge.directs.at(-1) ?? null))
      case "W":
        return void stream.end(encodeAddressReply(`${connection.remote.address}:${connection.remote.port}`))
      case "R":
        return void stream.end(refusedReply)
    }
  }

  const listening = {
    at: { address: "127.0.0.1", port: 0 },
    certificate: leaf.cert,
    key: leaf.key,
    transport: { keepAlive: 3_000, idle, streams: 100 }
  }
  const at = await run(
    quic.listen(listening, () => ({
      connected: (connection) => {
        all.add(connection)
        void connection.closed.then(() => {
          all.delete(connection)
          const index = edge.agents.indexOf(connection)
          if (index >= 0) edge.agents.splice(index, 1)
        })
        connection.take((stream) => void answer(connection, stream))
      },
      failed: () => undefined
    }))
  )
  const edge: QuicEdge = {
    link: await UdpLink.open(at.port, port),
    agents: [],
    registered: [],
    directs: [],
    roles: [],
    refuse: false,
    pid: quic.pid,
    dial: (to, roots) =>
      Effect.runPromise(
        quic.dial({
          to: { address: "127.0.0.1", port: to },
          serverName: "localhost",
          roots,
          transport: { keepAlive: 3_000, idle, streams: 100 }
        })
      ),
    open: async () => {
      await eventually(() => edge.agents.length > 0, "an agent registers by QUIC")
      return Result.getOrThrow(edge.agents.at(-1)!.open())
    },
    [Symbol.asyncDispose]: async () => {
      await edge.link[Symbol.asyncDispose]()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
  return edge
}
