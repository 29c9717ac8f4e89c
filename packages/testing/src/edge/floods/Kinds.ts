/** Every kind of flood that anybody on the internet can begin. */
import { encodeMuxFrame } from "@catenet/wire/frames/MuxFrame"
import { muxAlpn } from "@catenet/wire/transport/Mux"
import { randomBytes } from "node:crypto"
import { http2Frame } from "../fuzz/Samples.ts"
import { helloFor } from "../Hello.ts"
import type { Flood } from "./Flood.ts"
import { preface, resets, unfinished } from "./Frames.ts"
import { memberKinds } from "./MemberKinds.ts"

const cancel = 8
const resetCount = 100

/** An honest name of a field that goes on for ever. */
const drop = Buffer.from("a")

const rapidReset = (flood: Flood) =>
  flood.repeat(async () => {
    const socket = await flood.tls("visitor", ["h2"])
    socket.resume().write(preface)
    for (let stream = 1; flood.isRunning && socket.writable; stream += resetCount * 2) {
      socket.write(resets(flood.target.host, resetCount, cancel, stream))
      await flood.pause(1)
    }
  })

const visitors = (alpn: string, bytes: (flood: Flood) => Buffer, drip: Buffer | undefined) => (flood: Flood) => {
  flood.repeat(async () => {
    const socket = await flood.tls("visitor", [alpn])
    socket.write(bytes(flood))
    flood.hold(socket)
  })
  if (drip !== undefined) flood.drip(drip)
}

const agents = (alpn: ReadonlyArray<string>, bytes: () => Buffer) => (flood: Flood) =>
  flood.repeat(async () => {
    const socket = await flood.tls("agent", alpn)
    socket.write(bytes())
    flood.hold(socket)
  })

const hellos = (host: (flood: Flood) => string) => async (flood: Flood) => {
  const hello = await helloFor(host(flood), ["http/1.1"])
  flood.repeat(async () => {
    const socket = await flood.tcp(flood.target.frontDoor)
    socket.write(hello)
    await flood.heard(socket)
    socket.destroy()
  })
}

const hello = { lowest: 1, version: 1, maxStreams: 8, initialWindow: 65_536 }

const registration = () =>
  Buffer.concat([
    encodeMuxFrame({ _tag: "Hello", hello }),
    encodeMuxFrame({
      _tag: "Register",
      id: 1,
      request: { token: randomBytes(32), hosts: [], agentId: "flood", wishes: { proxyProtocol: false } }
    })
  ])

/** Key and commitment of small order, for which a lenient verifier needs a second opinion; 3,000 a second on eight connections. */
const smallOrderProofs = (flood: Flood) =>
  flood.repeat(async () => {
    const socket = await flood.tls("agent", [muxAlpn])
    const proof = { publicKey: new Uint8Array(32), signature: new Uint8Array(64).fill(1, 32, 63) }
    socket.resume().write(encodeMuxFrame({ _tag: "Hello", hello }))
    for (let id = 1; flood.isRunning && socket.writable; id += 4) {
      const frames = Array.from({ length: 4 }, (_, nth) =>
        encodeMuxFrame({
          _tag: "Register",
          id: id + nth,
          request: { token: randomBytes(32), hosts: [], agentId: "flood", wishes: { proxyProtocol: false }, proof }
        })
      )
      socket.write(Buffer.concat(frames))
      await flood.pause(10)
    }
  })

const visitorKinds = {
  "parks of random tokens": agents([], () => Buffer.concat([Buffer.from("A"), randomBytes(32)])),
  "registrations of random tokens": agents([muxAlpn], registration),
  "registrations with proofs of small order": smallOrderProofs,
  "half request heads": visitors(
    "http/1.1",
    ({ target }) => Buffer.from(`GET / HTTP/1.1\r\nHost: ${target.host}\r\nX-`),
    drop
  ),
  "unfinished header blocks": visitors(
    "h2",
    ({ target }) => Buffer.concat([preface, unfinished(target.host)]),
    // CONTINUATION without END_HEADERS: a literal field that is never indexed.
    http2Frame(9, 0, 1, Buffer.of(0x10, 1, 0x61, 1, 0x61))
  ),
  "rapid resets on 8 connections": rapidReset,
  "half TLS handshakes": hellos(({ target }) => target.host),
  "TLS handshakes": (flood: Flood) =>
    flood.repeat(async () => void (await flood.tls("visitor", ["http/1.1"])).destroy()),
  "hellos of unknown hosts": hellos(() => "unknown.zone.test"),
  "connections that say nothing": (flood: Flood) =>
    flood.repeat(async () => void (await flood.tcp(flood.target.frontDoor)).destroy())
} satisfies Record<string, (flood: Flood) => void | Promise<void>>

export const kinds = { ...visitorKinds, ...memberKinds }

export type Kind = keyof typeof kinds

export const isKind = (kind: unknown): kind is Kind => typeof kind === "string" && Object.hasOwn(kinds, kind)

/** Those that members of channels meet, and all others. */
export const ofMembers: ReadonlyArray<Kind> = Object.keys(memberKinds).filter(isKind)
export const ofVisitors: ReadonlyArray<Kind> = Object.keys(visitorKinds).filter(isKind)
