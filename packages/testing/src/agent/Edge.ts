/** An edge for tests: a real TLS listener that speaks the multiplexed protocol, or the parked slots, as the test says. */
import { native } from "@catenet/crypto/native"
import type { RefusalCode } from "@catenet/wire/frames/MuxReason"
import { proofMessage } from "@catenet/wire/frames/MuxRegister"
import { channelBinding } from "@catenet/wire/transport/ChannelBinding"
import { answerAdmission, EdgeSlot, readAdmission } from "@catenet/wire/transport/EdgeSlot"
import { Mux } from "@catenet/wire/transport/Mux"
import type { InboundRegistration } from "@catenet/wire/transport/Registrations"
import { Effect, Result } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { createServer, type TLSSocket } from "node:tls"
import { freePort } from "../../../stack/src/Ports.ts"
import type { Leaf } from "./Authority.ts"
import { serveClient } from "./MeshEdge.ts"

export interface EdgeOptions {
  readonly leaf: Leaf
  readonly alpn: ReadonlyArray<string>
  readonly port?: number
  /** Refuses every multiplexed registration. */
  readonly refuse?: { readonly code: RefusalCode; readonly sentence: string }
  /** Accepts every registration, and drops the connection. */
  readonly drops?: boolean
  /** Answers NO to every slot. */
  readonly no?: boolean
  /** Registrations that it takes on one connection. */
  readonly maxRegistrations?: number
  /** Closes connections whose role byte is one of these, as an edge that does not know them. */
  readonly unknownRoles?: string
}

export interface Edge extends AsyncDisposable {
  readonly port: number
  readonly registrations: Array<InboundRegistration & { readonly proven: boolean }>
  readonly slots: Array<EdgeSlot & { readonly role: string }>
  /** The roles of all slots that were asked for, those that were not known among them. */
  readonly asked: Array<string>
  readonly sessions: Set<Mux>
  readonly sockets: Set<Socket>
  /** Opens a stream to the agent, on its newest session or its oldest parked slot, once there is one. */
  open(kind?: "visitor" | "acme", challengeOnly?: boolean): Promise<Duplex>
  /** Waits until this is true; checked at every registration and admission. */
  until(condition: () => boolean): Promise<void>
  /** Breaks every connection without a word. */
  cut(): void
}

export const startEdge = async (options: EdgeOptions): Promise<Edge> => {
  const registrations: Edge["registrations"] = []
  const slots: Edge["slots"] = []
  const asked: Array<string> = []
  const sessions = new Set<Mux>()
  const sockets = new Set<Socket>()
  let changed = Promise.withResolvers<void>()
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }

  const multiplex = (socket: TLSSocket) => {
    const challenge = randomBytes(32)
    const mux = new Mux(socket, {
      side: "acceptor",
      challenge,
      limits: { registrations: options.maxRegistrations ?? 1024 },
      onRegister: (registration) => {
        if (options.refuse !== undefined) return registration.refuse(options.refuse)
        const { token, agentId, proof } = registration.request
        const message = proofMessage({
          token,
          agentId,
          challenge,
          binding: Result.getOrThrow(channelBinding(socket, challenge))
        })
        const proven = proof !== undefined && native.ed25519.verifyLenient(proof.publicKey, message, proof.signature)
        registration.accept({ sessionId: "s", keepAliveMillis: 8000, maxStreams: 1000 })
        registrations.push(Object.assign(registration, { proven }))
        change()
        if (options.drops === true) setImmediate(() => socket.end(() => socket.destroy()))
      }
    })
    sessions.add(mux)
    void mux.closed.then(() => {
      sessions.delete(mux)
      change()
    })
  }

  const park = async (socket: TLSSocket) => {
    const admission = await readAdmission(socket)
    if (Result.isFailure(admission) || "adminToken" in admission.success) return
    if (admission.success.role === "C") return void serveClient(socket, (token) => open("mesh", token))
    const { role } = admission.success
    asked.push(role)
    if (options.unknownRoles?.includes(role) === true) return void socket.destroy()
    answerAdmission(socket, options.no !== true)
    if (options.drops === true) return void socket.end(() => socket.destroy())
    if (options.no === true) return change()
    slots.push(Object.assign(new EdgeSlot(socket, role, { pingMillis: 50, pongMillis: 60_000 }), { role }))
    change()
  }

  const open = async (
    kind: "visitor" | "acme" | "mesh",
    token: string | undefined,
    challengeOnly = false
  ): Promise<Duplex | undefined> => {
    const registration = registrations.findLast(
      ({ request }) => token === undefined || Buffer.from(request.token).toString("hex") === token
    )
    const mux = [...sessions].at(-1)
    const tls = kind === "mesh" ? "none" : "passthrough"
    const host = kind === "mesh" ? {} : { host: "hello.example", client: { address: "192.0.2.7", port: 4711 } }
    if (mux !== undefined)
      return (
        registration &&
        Result.getOrThrow(mux.open({ registration: registration.id, kind, tls, challengeOnly, ...host }))
      )
    const slot = slots.find(({ state }) => state === "parked")
    return slot && Result.getOrThrow(await slot.deliver())
  }

  const server = createServer(
    { cert: options.leaf.cert, key: options.leaf.key, ALPNProtocols: [...options.alpn], allowHalfOpen: true },
    (socket) => {
      socket.on("error", () => {})
      if (socket.alpnProtocol === "ct-edge-mux") multiplex(socket)
      else void park(socket)
    }
  )
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  // Tests end an edge and start another one on its port, which no other process may get meanwhile.
  server.listen(options.port ?? (await Effect.runPromise(freePort("127.0.0.1"))), "127.0.0.1")
  await once(server, "listening")
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    registrations,
    slots,
    asked,
    sessions,
    sockets,
    open: async (kind = "visitor", challengeOnly = false) => {
      for (;;) {
        const stream = await open(kind, undefined, challengeOnly)
        if (stream !== undefined) return stream
        await changed.promise
      }
    },
    until: async (condition) => {
      while (!condition()) await changed.promise
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}
