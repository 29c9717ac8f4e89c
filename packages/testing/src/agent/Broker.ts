/**
 * An edge for channel members: real TLS and the bytes of the admission, written by hand from the specification with the record
 * codecs alone. It pairs as an edge does, and may be scripted to do wrong.
 */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import type { AddressInfo, Socket } from "node:net"
import { createSecureContext, createServer, type TLSSocket } from "node:tls"
import type { Authority } from "./Authority.ts"
import type { Channel, Member } from "./Member.ts"

/** What a join said, and how it came. */
export interface Joined {
  readonly alpn: string
  readonly serverName: string
  readonly phase: number | undefined
  readonly endpoint: string
  /** What stands behind the endpoint, which the broker passes on with it. */
  readonly offer: string
  readonly holder: string
}

export interface BrokerOptions {
  readonly authority: Authority
  readonly channel: Channel
  readonly members: ReadonlyArray<Member>
  /** What the server selects; a name that is not offered is left out. */
  readonly alpn?: ReadonlyArray<string>
  /** Answers a join by these bytes instead, and ends its side. */
  readonly answer?: (join: Joined, count: number) => Uint8Array | undefined
  /** Changes the line of an acknowledgement. */
  readonly line?: (line: string, to: Joined) => string
  /** Sees and changes what is relayed. */
  readonly relayed?: (chunk: Buffer) => Buffer
  /** Closes the legs of a rendezvous when one of the two has spoken, instead of at once. */
  readonly closesLate?: boolean
  /** Where it listens. */
  readonly host?: string
}

export interface Broker extends AsyncDisposable {
  readonly host: string
  readonly port: number
  readonly joins: Array<Joined>
  readonly sockets: Set<Socket>
  /** Bytes of sessions in the relay. */
  readonly carried: () => number
  /** Ends all sessions in the relay, both ways and in order. */
  readonly endSessions: () => void
}

const hex = (bytes: Uint8Array) => Hex.encode(bytes)

/** Reads exactly so many bytes. */
const take = async (socket: TLSSocket, count: number): Promise<Buffer> => {
  for (;;) {
    const chunk: Buffer | null = socket.read(count)
    if (chunk !== null && chunk.length === count) return chunk
    if (chunk !== null || socket.readableEnded || socket.destroyed) throw new Error("the member went away")
    await Promise.race([once(socket, "readable"), once(socket, "end"), once(socket, "close")])
  }
}

interface Parked {
  readonly join: Joined
  readonly socket: TLSSocket
  readonly member: Member
  readonly direction: string
}

export const startBroker = async (options: BrokerOptions): Promise<Broker> => {
  const {
    host = "127.0.0.1",
    alpn = ["ct-edge-channel-ka", "ct-edge-channel", "http/1.1", "h2"],
    authority,
    channel,
    members
  } = options
  const joins: Array<Joined> = []
  const parked = new Set<Parked>()
  const sockets = new Set<Socket>()
  const relayed = new Set<TLSSocket>()
  let carried = 0

  const lineTo = ({ join, socket }: Parked, peer: Parked) => {
    const { attestation, holder, noiseKey } = peer.member
    const { remoteAddress, remotePort } = socket
    const line = `OK ${peer.join.endpoint}${peer.join.offer} ${hex(noiseKey)} ${hex(holder)} ${hex(attestation)} r=${remoteAddress}:${remotePort} sp=1\n`
    return options.line?.(line, join) ?? line
  }
  const pair = (a: Parked, b: Parked) => {
    for (const [one, other] of [
      [a, b],
      [b, a]
    ] as const) {
      one.socket.write(lineTo(one, other))
      if (a.join.phase === 1 && b.join.phase === 1) {
        if (options.closesLate === true) one.socket.once("data", () => [one, other].map(({ socket }) => socket.end()))
        else one.socket.end()
        one.socket.resume()
        continue
      }
      relayed.add(one.socket)
      one.socket.on("data", (chunk: Buffer) => {
        carried += chunk.length
        other.socket.write(options.relayed?.(chunk) ?? chunk)
      })
      one.socket.on("end", () => other.socket.end())
      one.socket.on("close", () => {
        if (!one.socket.readableEnded || !one.socket.writableFinished) other.socket.destroy()
      })
      one.socket.resume()
    }
  }
  const admit = async (socket: TLSSocket) => {
    const isMarked = ["ct-edge-channel-ka", "http/1.1"].includes(String(socket.alpnProtocol))
    let head = await take(socket, 2)
    const phase = isMarked && head[0] === 0xff ? head[1] : undefined
    if (phase !== undefined) head = await take(socket, 2)
    const length = head.readUInt16BE()
    const body = await take(socket, length)
    const grant = Grant.decode(body.subarray(0, 139))
    if (grant._tag === "Failure") throw grant.failure
    const [, endpoint = "", offer = ""] = /^(.*?)( kx=.*)?$/s.exec(body.subarray(139).toString()) ?? []
    const join: Joined = {
      alpn: String(socket.alpnProtocol),
      serverName: String(socket.servername),
      phase,
      endpoint,
      offer,
      holder: hex(grant.success.holder)
    }
    joins.push(join)
    const instead = options.answer?.(join, joins.length)
    if (instead !== undefined) return void socket.end(instead)
    const challenge = randomBytes(32)
    socket.write(challenge)
    const signature = await take(socket, 64)
    const member = members.find(({ holder }) => hex(holder) === join.holder)
    if (member === undefined) return void socket.end("NO\u000anot-member")
    if (grant.success.signature.every((byte) => byte === 0)) throw new Error("no signature")
    if (!native.ed25519.verifyLenient(channel.operator, Grant.preimage(grant.success), grant.success.signature))
      return void socket.end("NO\u000cgrant-verify")
    if (!native.ed25519.verifyLenient(member.holder, challenge, signature)) return void socket.end("NO\u000apossession")
    const own: Parked = { join, socket, member, direction: grant.success.direction }
    const peer = [...parked].find(
      (each) =>
        each.join.holder !== join.holder &&
        (each.join.phase === phase || each.join.phase === undefined || phase === undefined)
    )
    if (peer === undefined) {
      parked.add(own)
      socket.on("close", () => parked.delete(own))
      return
    }
    parked.delete(peer)
    if (peer.direction === own.direction && own.direction !== "both") {
      for (const each of [own, peer]) each.socket.end("NO\u0007pairing")
      return
    }
    pair(own, peer)
  }

  const contextOf = (name: string) => createSecureContext(authority.leaf(name))
  const contexts = new Map(["localhost", "edge-cdn.invalid"].map((name) => [name, contextOf(name)]))
  const server = createServer(
    {
      ...authority.leaf("localhost"),
      SNICallback: (name, done) => done(null, contexts.get(name)),
      ALPNCallback: ({ protocols }) => alpn.find((name) => protocols.includes(name)),
      allowHalfOpen: true
    },
    (socket) => {
      socket.on("error", () => {})
      socket.pause()
      admit(socket).catch(() => socket.destroy())
    }
  )
  server.on("tlsClientError", () => {})
  server.on("connection", (socket) => {
    sockets.add(socket)
    socket.on("close", () => sockets.delete(socket))
  })
  server.listen(0, host)
  await once(server, "listening")
  return {
    host,
    port: (server.address() as AddressInfo).port,
    joins,
    sockets,
    carried: () => carried,
    endSessions: () => {
      for (const socket of relayed) socket.end()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

/** The variables with which a member finds this broker, by its front door alone. */
export const throughFrontDoor = (broker: Broker, { authority }: Pick<BrokerOptions, "authority">, member: Member) => ({
  ...member.env,
  // Closed ports are refused at once; by QUIC that takes 5 s.
  CT_CHANNEL_TRANSPORTS: "tls",
  CT_CHANNEL_BROKER: "127.0.0.1:1",
  CT_CHANNEL_RELAY: "127.0.0.1:1",
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_FRONT_DOOR: `${broker.host}:${broker.port}`,
  CT_CHANNEL_FRONT_DOOR_CERT: hex(authority.der),
  CT_CHANNEL_FRONT_DOOR_ONLY: "1"
})
