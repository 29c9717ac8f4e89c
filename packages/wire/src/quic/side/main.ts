/**
 * The QUIC process. It is started by the program whose UDP sockets it owns, reads from its standard input where that listens and a
 * token for it, and ends with it. It keeps no state: whatever it carries ends with it.
 * @internal
 */
import { Result } from "effect"
import { connect, isIPv6 } from "node:net"
import process from "node:process"
import { stdin } from "node:process"
import { createInterface } from "node:readline"
import type { CarrierStream } from "../../transport/Carrier.ts"
import { FrameReader } from "../../transport/FrameReader.ts"
import { Mux } from "../../transport/Mux.ts"
import { decode, encode, type LinkFrame } from "../link/LinkFrame.ts"
import { linkLimits } from "../link/LinkLimits.ts"
import { runtime } from "./DenoQuic.ts"
import { QuicConnections } from "./QuicConnections.ts"
import { optionsOf } from "./TransportOptions.ts"
import { listen } from "./UdpListener.ts"

/**
 * A QUIC connection that the program asked for, on a UDP socket of its own, which ends with it or with the question.
 * @internal
 */
const dial = async (
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

const failed = (stream: CarrierStream, error: unknown) => {
  stream.end(encode({ _tag: "Failed", why: error instanceof Error ? error.message : String(error) }))
  stream.resume()
}

const serve = async (link: Mux, connections: QuicConnections, stream: CarrierStream) => {
  const reader = new FrameReader(stream)
  const asked = await reader.next(decode)
  if (Result.isFailure(asked)) return stream.reset("protocol", "no frame of the link")
  const frame = asked.success
  switch (frame._tag) {
    case "Stream":
      reader.release()
      return connections.carry(frame.connection, stream)
    case "Listen":
      return listen(link, connections, stream, reader, frame).catch((error: unknown) => {
        reader.release()
        failed(stream, error)
      })
    case "Dial":
      return dial(connections, stream, reader, frame).catch((error: unknown) => {
        reader.release()
        failed(stream, error)
      })
    default:
      stream.reset("protocol", "not for this side")
  }
}

const start = (port: number, token: string) => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => {
    socket.write(Buffer.from(token, "hex"))
    const link: Mux = new Mux(socket, {
      side: "dialler",
      keepAlive: false,
      limits: linkLimits,
      onStream: (stream) => void serve(link, connections, stream)
    })
    const connections = new QuicConnections(link)
  })
  socket.on("error", () => runtime.exit(1)).on("close", () => runtime.exit(0))
}

// A fault beside one connection must not end the others.
process.on("unhandledRejection", (reason) => void process.stderr.write(`${String(reason)}\n`))

const lines = createInterface({ input: stdin })
lines.once("line", (line) => {
  const { port, token } = JSON.parse(line) as { readonly port: number; readonly token: string }
  start(port, token)
})
lines.once("close", () => runtime.exit(0))
