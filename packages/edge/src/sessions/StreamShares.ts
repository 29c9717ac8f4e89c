/**
 * Shares the streams of an agent's session fairly among its tunnels, and among the addresses of their visitors, because one HTTP/2
 * connection may open a hundred. An address gets at most a quarter of what our agents accept. If a session is full, the newest
 * stream of the largest tunnel gives way to a smaller tunnel, and within a tunnel that of the largest address to a smaller address.
 */
import { FairPlaces } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import { type CarrierSession, type CarrierStream, StreamRefused } from "@catenet/wire/transport/Carrier"
import { defaultLimits } from "@catenet/wire/transport/MuxLimits"
import { Result } from "effect"

export const maxPerAddress = defaultLimits.maxStreams / 4

interface Shares {
  readonly tunnels: FairPlaces
  readonly addresses: FairPlaces
}

const bySession = new WeakMap<CarrierSession, Shares>()

const sharesOf = (session: CarrierSession) => {
  const known = bySession.get(session)
  if (known !== undefined) return known
  // The session reports when it is full, because the peer sets the limit.
  const places = () => new FairPlaces(Number.POSITIVE_INFINITY)
  const shares: Shares = { tunnels: places(), addresses: places() }
  bySession.set(session, shares)
  return shares
}

const isFull = (opened: Result.Result<CarrierStream, StreamRefused>) =>
  Result.isFailure(opened) && opened.failure.reason === "full"

/** Opens a stream for the visitor in the header. Without an address it is the edge itself, which has no share. */
export const open = (session: CarrierSession, header: OpenHeader): Result.Result<CarrierStream, StreamRefused> => {
  const { client } = header
  const tunnel = String(header.registration)
  if (client === undefined) return session.open(header)
  const address = addressBlock(client.address)
  const { addresses, tunnels } = sharesOf(session)
  if (addresses.heldBy(address) >= maxPerAddress) return Result.fail(new StreamRefused({ reason: "full" }))
  const first = session.open(header)
  const opened =
    isFull(first) && (tunnels.makeRoom(tunnel) || addresses.makeRoom(address)) ? session.open(header) : first
  if (Result.isSuccess(opened)) {
    const stream = opened.success
    const leaving: Array<(() => void) | undefined> = []
    const leave = () => {
      for (const each of leaving) each?.()
    }
    const evict = () => {
      leave()
      stream.reset("overloaded", "its address or its tunnel holds the most streams of this agent")
    }
    const holder = { isIdle: () => false, evict }
    leaving.push(tunnels.take(tunnel, holder), addresses.take(address, holder))
    stream.once("close", leave)
  }
  return opened
}

/** Running requests by tunnel and visitor's address: a request beyond what an agent accepts from one address is refused early. */
export class RequestShares {
  readonly #running = new Map<string, number>()

  /** Counts the request until its stream closes; false when there are too many. */
  begin(token: string, address: string, stream: { once: (event: "close", done: () => void) => unknown }): boolean {
    const key = `${token} ${addressBlock(address)}`
    const count = this.#running.get(key) ?? 0
    if (count >= maxPerAddress) return false
    this.#running.set(key, count + 1)
    stream.once("close", () => {
      const left = (this.#running.get(key) ?? 1) - 1
      if (left > 0) this.#running.set(key, left)
      else this.#running.delete(key)
    })
    return true
  }
}
