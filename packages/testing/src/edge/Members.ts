/** Members of channels that are played byte by byte (data-plane 17.2): only the grant and its keys come from the house. */
import * as Grant from "@catenet/crypto/Grant"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { createWebSocketStream, WebSocket } from "@effect/platform-node/NodeWS"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { Peer } from "./Peer.ts"
import { dialMember, type QuicPlace } from "./QuicMember.ts"
import type { TestEdge } from "./TestEdge.ts"

export { Peer }

export const ascii = (text: string) => Buffer.from(text, "latin1")
export const u16 = (value: number) => Buffer.of(value >> 8, value & 0xff)

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

export interface TestChannel {
  readonly id: Buffer
  readonly operatorSeed: Buffer
}

export const channel = (): TestChannel => ({ id: randomBytes(32), operatorSeed: randomBytes(32) })

export interface TestMember {
  readonly seed: Buffer
  readonly holder: Uint8Array
  readonly noiseKey: Buffer
  readonly attestation: Uint8Array
  readonly channel: TestChannel
  readonly grant: Uint8Array
}

const farAhead = 4_000_000_000n

/** A member with a grant; the control plane knows it once `register` was called. */
export const member = (
  channel: TestChannel,
  claims: Partial<Pick<Grant.Claims, "direction" | "rights" | "expiresAt">> = {},
  seed: Buffer = randomBytes(32)
): TestMember => {
  const holder = native.ed25519.publicKey(seed)
  const noiseKey = randomBytes(32)
  return {
    seed,
    holder,
    noiseKey,
    attestation: NoiseAttestation.sign(native, Redacted.make(new Uint8Array(seed)), { channel: channel.id, noiseKey }),
    channel,
    grant: Grant.encode(
      Grant.sign(native, Redacted.make(new Uint8Array(channel.operatorSeed)), {
        channel: channel.id,
        holder,
        direction: "both",
        rights: "rw",
        delegable: false,
        expiresAt: farAhead,
        ...claims
      })
    )
  }
}

const keyOf = ({ channel, holder }: TestMember) => `${hex(channel.id)} ${hex(holder)}`

/** What the control plane knows of it, by its key. */
export const row = (member: TestMember) =>
  [
    keyOf(member),
    {
      operator_pubkey: hex(native.ed25519.publicKey(member.channel.operatorSeed)),
      noise_pubkey: hex(member.noiseKey),
      noise_attestation: hex(member.attestation)
    }
  ] as const
export type Row = ReturnType<typeof row>

/** Tells the control plane of it. */
export const register = (world: Pick<TestEdge, "controlPlane">, ...members: ReadonlyArray<TestMember>) => {
  for (const member of members) world.controlPlane.members.set(...row(member))
}

export const remove = (world: Pick<TestEdge, "controlPlane">, member: TestMember) =>
  world.controlPlane.members.delete(keyOf(member))

export const keepAlive = ["ct-edge-channel-ka", "ct-edge-channel"]
export const plain = ["ct-edge-channel"]

export interface JoinOptions {
  readonly phase?: 1 | 2 | undefined
  readonly endpoint?: string
  readonly alpn?: ReadonlyArray<string>
  readonly serverName?: string
  /** Absent: the front door. */
  readonly port?: number
  /** The address that it comes from. */
  readonly from?: string
  readonly webSocket?: {
    readonly url: string
    readonly ca: string
    readonly servername?: string
    readonly origin?: string
    readonly headers?: Readonly<Record<string, string>>
  }
  readonly quic?: QuicPlace
}

export const joinFrame = ({ grant }: TestMember, { endpoint = "relay-only", phase }: JoinOptions = {}) =>
  Buffer.concat([
    phase === undefined ? Buffer.alloc(0) : Buffer.of(0xff, phase),
    u16(grant.length + endpoint.length),
    grant,
    ascii(endpoint)
  ])

type Place = Pick<TestEdge, "frontDoor" | "meshRoot">

export const dial = (
  world: Place,
  { alpn = keepAlive, from, port = world.frontDoor, quic, serverName = "localhost", webSocket }: JoinOptions = {}
) => {
  if (quic !== undefined) return dialMember(quic, world.meshRoot)
  return webSocket === undefined ? Peer.to(port, world.meshRoot, alpn, serverName, from) : dialWebSocket(webSocket)
}

/** A WebSocket whose binary messages are the bytes. */
const dialWebSocket = ({ url, ...options }: NonNullable<JoinOptions["webSocket"]>) =>
  new Promise<Peer>((resolve, reject) => {
    const socket = new WebSocket(url, options)
    const stream = createWebSocketStream(socket, { allowHalfOpen: false })
    stream.on("error", () => undefined)
    socket.once("open", () => resolve(new Peer(stream)))
    socket.once("error", reject)
  })

export const answer = ({ seed }: TestMember, challenge: Uint8Array) => native.ed25519.sign(seed, challenge)

/** Steps 1 to 4: the member waits when the promise is there. */
export const join = async (world: Place, member: TestMember, options: JoinOptions = {}): Promise<Peer> => {
  const peer = await dial(world, options)
  peer.send(joinFrame(member, options))
  const challenge = await peer.take(32)
  if (challenge.length < 32) throw new Error(`no challenge: ${JSON.stringify(challenge.toString("latin1"))}`)
  peer.send(answer(member, challenge))
  return peer
}

/** The line of the acknowledgement by its words, after any NULs. */
export const acknowledged = async (peer: Peer) => {
  let line = ""
  for (;;) {
    const byte = await peer.take(1)
    if (byte.length === 0) throw new Error(`ended within ${JSON.stringify(line)}`)
    if (byte[0] === 0 && line === "") continue
    if (byte[0] === 0x0a) break
    line += byte.toString("latin1")
  }
  return line.split(" ")
}

/** Joins and waits for its peer; closes the connection that brings none. */
export const meet = async (world: Place, member: TestMember, options: JoinOptions = {}): Promise<Peer> => {
  const peer = await join(world, member, options)
  try {
    await acknowledged(peer)
    return peer
  } catch (cause) {
    peer.socket.destroy()
    throw cause
  }
}

/** Joins again whenever it is sent away or loses its connection, as agents do, until it has a peer. */
export const insist = async (world: Place, member: TestMember, options: JoinOptions = {}): Promise<Peer> => {
  for (;;) {
    const peer = await join(world, member, options)
    const heard = await acknowledged(peer).catch(() => undefined)
    if (heard !== undefined) return peer
    peer.socket.destroy()
  }
}
