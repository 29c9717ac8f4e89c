/** Every kind of flood that somebody can begin who is no member of a channel, or has only overheard one. */
import { randomBytes } from "node:crypto"
import { helloFor } from "../Hello.ts"
import { ascii, joinFrame, keepAlive, channel as newChannel, member as newMember, u16 } from "../Members.ts"
import type { Flood } from "./Flood.ts"

const atGate = ["ct-edge-relay"]

/** What the flooder has heard of a member of a channel. */
const overheard = ({ target: { member } }: Flood, what: "join" | "forged" | "grant" | "signature") =>
  Buffer.from(member[what], "hex")

/** Says this and waits for what the edge says. */
const saying = (alpn: ReadonlyArray<string>, bytes: (flood: Flood) => Buffer) => (flood: Flood) =>
  flood.repeat(async () => {
    const socket = await flood.tls("member", alpn)
    socket.write(bytes(flood))
    await flood.heard(socket)
    socket.destroy()
  })

/** Says this and keeps the connection. */
const holding = (alpn: ReadonlyArray<string>, bytes: (flood: Flood) => Buffer) => (flood: Flood) =>
  flood.repeat(async () => {
    const socket = await flood.tls("member", alpn)
    socket.write(bytes(flood))
    flood.hold(socket)
  })

const stranger = newMember(newChannel())

export const memberKinds = {
  "joins of strangers": saying(keepAlive, () => joinFrame(stranger)),
  "joins with a grant by another operator": saying(keepAlive, (flood) => overheard(flood, "forged")),
  "joins that are played again": saying(keepAlive, (flood) =>
    Buffer.concat([overheard(flood, "join"), overheard(flood, "signature")])
  ),
  "joins that are too long": saying(keepAlive, () => Buffer.concat([u16(65_535), randomBytes(16_384)])),
  "half joins": holding(keepAlive, (flood) => overheard(flood, "join").subarray(0, 100)),
  "joins without a signature": holding(keepAlive, (flood) => overheard(flood, "join")),
  "grants at the gate without a signature": holding(atGate, (flood) => overheard(flood, "grant")),
  "half TLS handshakes of members": async (flood: Flood) => {
    const hello = await helloFor("localhost", keepAlive)
    flood.repeat(async () => {
      const socket = await flood.tcp(flood.target.frontDoor)
      socket.write(hello)
      await flood.heard(socket)
      socket.destroy()
    })
  },
  "requests for a WebSocket": (flood: Flood) =>
    flood.repeat(async () => {
      const socket = await flood.tcp(flood.target.webSocket)
      socket.write(ascii("GET /ws/channel HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"))
      flood.hold(socket)
    })
} satisfies Record<string, (flood: Flood) => void | Promise<void>>
