/**
 * A QUIC connection that the program asked for, on a UDP socket of its own, which ends with it or with the question.
 * @internal
 */
import { isIPv6 } from "node:net"
import type { CarrierStream } from "../../transport/Carrier.ts"
import type { FrameReader } from "../../transport/FrameReader.ts"
import type { LinkFrame } from "../link/LinkFrame.ts"
import { runtime } from "./DenoQuic.ts"
import type { QuicConnections } from "./QuicConnections.ts"
import { optionsOf } from "./TransportOptions.ts"

export const dial = async (
  connections: QuicConnections,
  control: CarrierStream,
  reader: FrameReader,
  { roots, serverName, to, transport }: LinkFrame & { readonly _tag: "Dial" }
): Promise<void> => {
  // The runtime's own choice is a socket for both families, which a machine without IPv6 does not have.
  const endpoint = new runtime.QuicEndpoint({ hostname: isIPv6(to.address) ? "::" : "0.0.0.0", port: 0 })
  control.once("close", () => endpoint.close())
  const connection = await runtime.connectQuic({
    hostname: to.address,
    port: to.port,
    serverName,
    caCerts: roots === "" ? [] : [roots],
    endpoint,
    ...optionsOf(transport)
  })
  await connections.hold(control, reader, connection)
}
