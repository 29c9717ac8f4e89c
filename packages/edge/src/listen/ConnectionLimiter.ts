/**
 * Limits open connections, in total and per source address (IPv6: per /64), and their rate. The overall cap is lowered to what the
 * descriptor limit allows, so that running out of descriptors is a refusal here and not a failure elsewhere. At the overall cap,
 * connections of the address that has the most give way.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import type { Socket } from "node:net"
import type { Settings } from "../settings/Settings.ts"
import { ConnectionRateLimiter } from "./ConnectionRateLimiter.ts"

/** Descriptors kept free for listening sockets, files, upstream connections, the control plane and the admin interface. */
const spareDescriptors = 192

export type ShedReason = "connections" | "address" | "descriptors"

/** A socket or a QUIC connection. */
export interface Admitted {
  readonly remoteAddress?: string | undefined
  readonly once: (event: "close", left: () => void) => unknown
  /** Closes it to make room for another address. */
  readonly destroy: () => unknown
}

const used = new WeakSet<object>()

/** Marks the connection as used: at the overall cap, unused ones give way first. */
export const noteUse = (connection: object): void => void used.add(connection)

export interface ConnectionLimiter {
  /** Takes a place until the socket closes; false when there is none. */
  readonly admit: (socket: Admitted, listener: string) => boolean
  /** Calls back when an admitted connection is due: at once if its address is within its rate. */
  readonly whenDue: (socket: Socket, open: () => void) => void
  /** Counts a refused connection. */
  readonly shed: (listener: string, reason: ShedReason, count?: number) => void
  readonly open: () => number
  /** Number of refused connections by listener and reason. */
  readonly sheds: ReadonlyMap<string, Readonly<Record<ShedReason, number>>>
}

type Caps = Pick<Settings["Service"], "connectionRatePerAddress" | "connections" | "connectionsPerAddress">

/** `descriptors` is the soft limit of open files of the process, if it is known. */
export const make = (caps: Caps, descriptors: number | undefined): ConnectionLimiter => {
  const sheds = new Map<string, Record<ShedReason, number>>()
  const carried = descriptors === undefined ? Number.POSITIVE_INFINITY : Math.max(1, descriptors - spareDescriptors)
  const most = Math.min(caps.connections, carried)
  const places = new FairPlaces(most)
  const shed = (listener: string, reason: ShedReason, count = 1) => {
    const counts = sheds.get(listener) ?? { connections: 0, address: 0, descriptors: 0 }
    counts[reason] += count
    sheds.set(listener, counts)
  }
  const admit = (socket: Admitted, listener: string) => {
    const address = addressBlock(socket.remoteAddress ?? "")
    const isFull = places.taken >= most
    const hasShare = places.heldBy(address) < caps.connectionsPerAddress
    // If all places are taken, this counts the new connection or the one that makes room for it.
    if (isFull) shed(listener, carried < caps.connections ? "descriptors" : "connections")
    else if (!hasShare) shed(listener, "address")
    const holder = { isIdle: () => !used.has(socket), evict: () => void socket.destroy() }
    const leave = hasShare ? places.take(address, holder) : undefined
    if (leave === undefined) return false
    socket.once("close", leave)
    return true
  }
  const pace = new ConnectionRateLimiter(caps.connectionRatePerAddress)
  return { admit, whenDue: (socket, open) => pace.scheduleAt(socket, open), shed, open: () => places.taken, sheds }
}
