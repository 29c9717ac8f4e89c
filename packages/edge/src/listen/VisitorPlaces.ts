/**
 * The places of visitors, at the edge and at each tunnel, shared fairly among addresses. A visitor takes them with its first
 * request if TLS is terminated here, else when it is passed to an agent.
 */
import { FairPlaces, type Holder } from "@catenet/platform/FairPlaces"
import { addressBlock } from "@catenet/platform/IpAddress"
import { Context, Effect, Layer } from "effect"
import { Counters } from "../observe/Counters.ts"
import { Settings } from "../settings/Settings.ts"
import { noteUse } from "./ConnectionLimiter.ts"

/** A connection, or a session of a UDP client. */
export interface Visitor {
  readonly destroyed: boolean
  readonly remoteAddress?: string | undefined
  readonly once: (event: "close", left: () => void) => unknown
}

export class VisitorPlaces extends Context.Service<
  VisitorPlaces,
  {
    /**
     * Takes a place of the edge, and one of the tunnel if it is served here, until the socket closes. False if there is none for
     * its address. `socket` is the accepted socket, below TLS.
     */
    readonly enter: (socket: Visitor, token: string | undefined, holder: Holder) => boolean
  }
>()("edge/listen/VisitorPlaces") {
  static readonly make = Effect.gen(function* () {
    const { browserTunnels, tunnelVisitors } = yield* Settings
    const counters = yield* Counters
    const ofEdge = new FairPlaces(browserTunnels)
    const ofTunnels = new Map<string, FairPlaces>()
    /** Sockets that already have a place of the edge. */
    const entered = new WeakSet<Visitor>()

    const placesOf = (token: string) => {
      const known = ofTunnels.get(token)
      if (known !== undefined) return known
      const places = new FairPlaces(tunnelVisitors)
      ofTunnels.set(token, places)
      return places
    }

    const leaveTunnel = (token: string, leave: () => void) => () => {
      leave()
      if (ofTunnels.get(token)?.taken === 0) ofTunnels.delete(token)
    }

    return VisitorPlaces.of({
      enter: (socket, token, { evict, isIdle }) => {
        if (socket.destroyed) return false
        const address = addressBlock(socket.remoteAddress ?? "")
        const held = new Set<() => void>()
        const leave = () => {
          for (const one of held) one()
        }
        const holder: Holder = {
          isIdle,
          evict: () => {
            counters.visitorsEvicted += 1
            // Losing the tunnel's place frees the edge's place at once, before the socket has closed.
            leave()
            evict()
          }
        }
        const ofTunnel = token === undefined ? undefined : placesOf(token).take(address, holder)
        if (token !== undefined && ofTunnel === undefined) {
          counters.visitorsOfFullTunnels += 1
          return false
        }
        if (token !== undefined && ofTunnel !== undefined) held.add(leaveTunnel(token, ofTunnel))
        socket.once("close", leave)
        if (entered.has(socket)) return true
        const ofAll = ofEdge.take(address, holder)
        if (ofAll === undefined) {
          counters.visitorsOfFullEdge += 1
          leave()
          return false
        }
        held.add(ofAll)
        entered.add(socket)
        noteUse(socket)
        return true
      }
    })
  })
  static readonly layer = Layer.effect(this, this.make).pipe(Layer.provide([Counters.layer]))
}
