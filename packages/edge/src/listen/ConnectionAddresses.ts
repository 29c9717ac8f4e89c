/** Both ends of a visitor's connection, as reported to agents and origins. */
import { plainAddress } from "@catenet/platform/IpAddress"
import type { OpenHeader } from "@catenet/wire/frames/MuxOpen"
import type { Socket } from "node:net"

const end = (address: string | undefined, port: number | undefined) =>
  address === undefined || port === undefined ? undefined : { address: plainAddress(address), port }

type Endpoints = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">

export const endpointsOf = (socket: Endpoints): Pick<OpenHeader, "client" | "server"> => {
  const client = end(socket.remoteAddress, socket.remotePort)
  const server = end(socket.localAddress, socket.localPort)
  return { ...(client === undefined ? {} : { client }), ...(server === undefined ? {} : { server }) }
}
