/** The public listeners of an edge, each monitored from the start. */
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect } from "effect"
import { ChannelListeners } from "../frontdoor/ChannelListeners.ts"
import { FrontDoor } from "../frontdoor/FrontDoor.ts"
import * as HttpsRedirect from "../frontdoor/HttpsRedirect.ts"
import { type ConnectionLimiter, noteUse } from "../listen/ConnectionLimiter.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import type { Sharing } from "../listen/ListenSockets.ts"
import * as TcpListener from "../listen/TcpListener.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Settings } from "../settings/Settings.ts"

export interface PublicListener extends TcpListener.TcpListener {
  readonly variable: string
}

type ListenerName =
  "mesh" | "front-door" | "browser" | "http-redirect" | "channel-broker" | "channel-relay" | "channel-ws"

/** Listeners for visitors of tunnels. */
const visitorDoors: ReadonlySet<ListenerName> = new Set(["front-door", "browser"])

const wanted = Effect.gen(function* () {
  const { browser, channelBroker, channelRelay, channelWebSocket, frontDoor, httpRedirect, mesh } = yield* Settings
  const all: ReadonlyArray<{
    readonly name: ListenerName
    readonly variable: string
    readonly address: Address | undefined
  }> = [
    { name: "mesh", variable: "CT_EDGE_LISTEN", address: mesh },
    { name: "front-door", variable: "CT_FRONT_DOOR", address: frontDoor },
    { name: "browser", variable: "CT_EDGE_BROWSER_LISTEN", address: browser },
    { name: "http-redirect", variable: "CT_EDGE_HTTP_REDIRECT", address: httpRedirect },
    { name: "channel-broker", variable: "CT_EDGE_CHANNEL_LISTEN", address: channelBroker },
    { name: "channel-relay", variable: "CT_EDGE_CHANNEL_RELAY_LISTEN", address: channelRelay },
    { name: "channel-ws", variable: "CT_EDGE_WS_CHANNEL_LISTEN", address: channelWebSocket }
  ]
  return all.flatMap(({ address, ...rest }) => (address === undefined ? [] : [{ ...rest, address }]))
})

/** The names of this edge's listeners. */
export const names = Effect.map(wanted, (listeners) => listeners.map(({ name }) => name))

/** Opens all of them; they stop accepting with the scope. */
export const open = Effect.fn("PublicListeners.open")(function* (limiter: ConnectionLimiter, sharing: Sharing) {
  const frontDoor = yield* FrontDoor
  const members = yield* ChannelListeners
  const health = yield* ListenerHealth
  const { ending } = yield* ConnectionFaults
  const serve: Readonly<Record<ListenerName, TcpListener.ListenerOptions["onConnection"]>> = {
    mesh: frontDoor.receiveMesh,
    "front-door": frontDoor.receive,
    browser: frontDoor.receiveVisitor,
    "http-redirect": HttpsRedirect.receive,
    "channel-broker": members.receiveBroker,
    "channel-relay": members.receiveRelay,
    "channel-ws": members.receiveWebSocket
  }
  return yield* Effect.forEach(yield* wanted, ({ variable, ...rest }) =>
    Effect.gen(function* () {
      const handler = serve[rest.name]
      // A visitor's connection counts as used from its first request on; the other kinds have their own limits.
      const onConnection: typeof handler = visitorDoors.has(rest.name)
        ? handler
        : (socket) => {
            noteUse(socket)
            handler(socket)
          }
      const listener = yield* TcpListener.listen({ ...rest, variable, limiter, onConnection, ending, sharing })
      yield* Effect.forkScoped(health.watch(listener))
      return { ...listener, variable } satisfies PublicListener
    })
  )
})
