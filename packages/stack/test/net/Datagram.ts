/** What a middlebox looks at in the packets of a VXLAN tunnel: Ethernet inside UDP (RFC 7348). Only TCP and UDP over IPv4 are looked into. */

const vxlanBytes = 8
const ethernetBytes = 14
const ipAt = vxlanBytes + ethernetBytes
const addressesAt = ipAt + 12
const ipv4 = 0x0800
const tcp = 6
const udp = 17
const syn = 0x02

export interface Segment {
  /** The same for both directions of a connection. */
  readonly flow: string
  /** It begins a connection. */
  readonly opens: boolean
  /** Where the TCP header is, and how long it is with its payload. */
  readonly at: number
  readonly length: number
}

export const segmentOf = (packet: Buffer): Segment | undefined => {
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
export const seal = (packet: Buffer, { at, length }: Segment): void => {
  packet.writeUInt16BE(0, at + 16)
  let sum = tcp + length
  for (let index = addressesAt; index < addressesAt + 8; index += 2) sum += packet.readUInt16BE(index)
  for (let index = 0; index + 1 < length; index += 2) sum += packet.readUInt16BE(at + index)
  if (length % 2 === 1) sum += packet.readUInt8(at + length - 1) << 8
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x1_0000)
  packet.writeUInt16BE(~sum & 0xffff, at + 16)
}

/** Whether it is UDP, whose checksum is then taken away: it is optional over IPv4, and left to hardware like that of TCP. */
export const unsealUdp = (packet: Buffer): boolean => {
  if (packet.length < ipAt + 28 || packet.readUInt16BE(ipAt - 2) !== ipv4) return false
  if (packet.readUInt8(ipAt + 9) !== udp) return false
  packet.writeUInt16BE(0, ipAt + (packet.readUInt8(ipAt) & 0x0f) * 4 + 6)
  return true
}
