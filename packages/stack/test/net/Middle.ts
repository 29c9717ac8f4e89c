/**
 * A program in a network namespace of its own between two others: it makes them, lays a link from each to itself, and carries
 * their packets to each other, late or never, as it is set. Kernels at both ends see a real network that is bad, and no
 * privilege is needed beyond making namespaces. Arguments: the ferries of the near side and of the far side, as JSON. It prints
 * a JSON line with the process ids of the sides, and takes weather as JSON lines.
 */
import { execFileSync, spawn } from "node:child_process"
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** What a middlebox looks at in the packets of a VXLAN tunnel: Ethernet inside UDP (RFC 7348). Only TCP and UDP over IPv4 are looked into. */
const vxlanBytes = 8
const ethernetBytes = 14
const ipAt = vxlanBytes + ethernetBytes
const addressesAt = ipAt + 12
const ipv4 = 0x0800
const tcp = 6
const udp = 17
const syn = 0x02

interface Segment {
  /** The same for both directions of a connection. */
  readonly flow: string
  /** It begins a connection. */
  readonly opens: boolean
  /** Where the TCP header is, and how long it is with its payload. */
  readonly at: number
  readonly length: number
}

const segmentOf = (packet: Buffer): Segment | undefined => {
  if (packet.length < ipAt + 40 || packet.readUInt16BE(ipAt - 2) !== ipv4) return undefined
  if (packet.readUInt8(ipAt + 9) !== tcp) return undefined
  const header = (packet.readUInt8(ipAt) & 0x0f) * 4
  const at = ipAt + header
  const ports = [packet.readUInt16BE(at), packet.readUInt16BE(at + 2)].toSorted((a, b) => a - b)
  return {
    flow: ports.join("-"),
    opens: (packet.readUInt8(at + 13) & syn) !== 0,
    at,
    length: packet.readUInt16BE(ipAt + 2) - header
  }
}

/** Writes the checksum, which a sender on the same machine leaves to hardware that is not there. */
const seal = (packet: Buffer, { at, length }: Segment): void => {
  packet.writeUInt16BE(0, at + 16)
  let sum = tcp + length
  for (let index = addressesAt; index < addressesAt + 8; index += 2) sum += packet.readUInt16BE(index)
  for (let index = 0; index + 1 < length; index += 2) sum += packet.readUInt16BE(at + index)
  if (length % 2 === 1) sum += packet.readUInt8(at + length - 1) << 8
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000)
  packet.writeUInt16BE(~sum & 0xffff, at + 16)
}

/** Whether it is UDP, whose checksum is then taken away: it is optional over IPv4, and left to hardware like that of TCP. */
const unsealUdp = (packet: Buffer): boolean => {
  if (packet.length < ipAt + 28 || packet.readUInt16BE(ipAt - 2) !== ipv4) return false
  if (packet.readUInt8(ipAt + 9) !== udp) return false
  packet.writeUInt16BE(0, ipAt + (packet.readUInt8(ipAt) & 0x0f) * 4 + 6)
  return true
}

export interface Weather {
  /** Each way. */
  readonly delayMillis: number
  /** The share of packets that never arrive, 0 to 1. */
  readonly loss: number
  /** A connection that is silent for so long is forgotten: its packets never arrive again. */
  readonly forgetsAfterMillis?: number
}

/** Addresses for documentation (RFC 5737), in namespaces of this test alone. */
const sides = [
  { middle: "192.0.2.1", end: "192.0.2.2", far: "203.0.113.1" },
  { middle: "198.51.100.1", end: "198.51.100.2", far: "203.0.113.2" }
] as const
const vxlanPort = 4789
const ferryProgram = join(dirname(fileURLToPath(import.meta.url)), "Ferry.ts")

const ip = (...args: ReadonlyArray<string>) => execFileSync("ip", args)

const makeSide = async (index: 0 | 1, ferries: ReadonlyArray<string>) => {
  const { end, far, middle } = sides[index]
  const child = spawn("unshare", ["-n", process.execPath, ferryProgram, ...ferries], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const said = child.stdout.setEncoding("utf8")[Symbol.asyncIterator]()
  await said.next()
  const inside = (...args: ReadonlyArray<string>) =>
    execFileSync("nsenter", ["--target", String(child.pid), "--net", "ip", ...args])
  const wire = `wire${index}`
  ip("link", "add", wire, "type", "veth", "peer", "name", "wire", "netns", String(child.pid))
  ip("address", "add", `${middle}/24`, "dev", wire)
  ip("link", "set", wire, "up")
  inside("link", "set", "lo", "up")
  inside("address", "add", `${end}/24`, "dev", "wire")
  inside("link", "set", "wire", "up")
  const tunnel = ["id", "1", "dstport", String(vxlanPort), "local", end, "remote", middle, "nolearning"]
  inside("link", "add", "far", "type", "vxlan", ...tunnel)
  // One packet is one datagram here: nothing may hand over several at once.
  inside("link", "set", "far", "mtu", "1400", "gso_max_segs", "1")
  inside("address", "add", `${far}/24`, "dev", "far")
  inside("link", "set", "far", "up")
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 * 1024 * 1024 })
  socket.bind(vxlanPort, middle)
  await once(socket, "listening")
  child.stdin.write("\n")
  await said.next()
  return { pid: child.pid, socket }
}

let weather: Weather = { delayMillis: 0, loss: 0 }

/** The same sequence in every run (a linear congruential generator), from 0 to 1. */
let drawn = 1
const chance = () => (drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32

const lastSeen = new Map<string, number>()

/** Whether a packet of a connection passes the middlebox. */
const remembered = ({ flow, opens }: Segment): boolean => {
  const now = performance.now()
  const seen = lastSeen.get(flow)
  if (!opens && seen !== undefined && now - seen > (weather.forgetsAfterMillis ?? Number.POSITIVE_INFINITY))
    return false
  lastSeen.set(flow, now)
  return true
}

const carry = (from: Socket, to: Socket, address: string) =>
  from.on("message", (packet) => {
    const segment = segmentOf(packet)
    if (segment !== undefined) {
      if (chance() < weather.loss || !remembered(segment)) return
      seal(packet, segment)
    } else if (unsealUdp(packet) && chance() < weather.loss) return
    setTimeout(() => to.send(packet, vxlanPort, address), weather.delayMillis)
  })

const [nearFerries = "[]", farFerries = "[]"] = process.argv.slice(2)
const near = await makeSide(0, JSON.parse(nearFerries))
const far = await makeSide(1, JSON.parse(farFerries))
carry(near.socket, far.socket, sides[1].end)
carry(far.socket, near.socket, sides[0].end)
process.stdout.write(`${JSON.stringify({ near: near.pid, far: far.pid })}\n`)
const lines = createInterface({ input: process.stdin })
lines.on("line", (line) => {
  weather = JSON.parse(line)
})
lines.on("close", () => process.exit(0))
