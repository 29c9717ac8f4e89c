/**
 * A UDP port that takes QUIC connections. Asked again to listen there, it goes on with another certificate for those that come from
 * then on: the newest options are in force for the whole port, as long as no older listener is let go, for the runtime would clear
 * them with it (2.9.6). So all are kept, and the first one takes the connections. The program judges each one once its first packet is read and before its handshake is
 * done: the runtime names no address sooner. What comes with that first packet waits for the handshake, so that nothing of it can be
 * replayed.
 * @internal
 */
import { Scheduler } from "@catenet/platform/Scheduler"
import { Result } from "effect"
import type { CarrierStream } from "../../transport/Carrier.ts"
import { FrameReader } from "../../transport/FrameReader.ts"
import type { Mux } from "../../transport/Mux.ts"
import { decode, encode, type Endpoint, type LinkFrame } from "../link/LinkFrame.ts"
import { type Closing, type Connection, type Incoming, type Listener, runtime } from "./DenoQuic.ts"
import type { QuicConnections } from "./QuicConnections.ts"
import { optionsOf } from "./TransportOptions.ts"
import { UnfinishedHandshakes } from "./UnfinishedHandshakes.ts"

/** Connections that wait for their verdict or their handshake. */
const maxUnfinished = 512
/** For both. The timeout of an idle connection begins again with each datagram. */
const handshakeMillis = 10_000

type Listen = LinkFrame & { readonly _tag: "Listen" }

const unwanted: Closing = { closeCode: 0, reason: "" }

export const listen = async (
  link: Mux,
  connections: QuicConnections,
  control: CarrierStream,
  commands: FrameReader,
  first: Listen
): Promise<void> => {
  const endpoint = new runtime.QuicEndpoint({ hostname: first.at.address, port: first.at.port })
  const listeners: Array<Listener> = []
  const start = ({ certificate, key, transport }: Listen) => {
    const listener = endpoint.listen({ cert: certificate, key, ...optionsOf(transport) })
    listeners.push(listener)
    control.write(encode({ _tag: "Listening", at: { address: endpoint.addr.hostname, port: endpoint.addr.port } }))
    return listener
  }
  control.once("close", () => {
    for (const listener of listeners) listener.stop()
    endpoint.close()
  })
  const listener = start(first)
  const unfinished = new UnfinishedHandshakes(maxUnfinished, Scheduler.monotonicMillis)

  const renew = async () => {
    for (;;) {
      const asked = await commands.next(decode)
      if (Result.isFailure(asked)) return
      try {
        if (asked.success._tag === "Listen") start(asked.success)
      } catch (error) {
        control.write(encode({ _tag: "Failed", why: error instanceof Error ? error.message : "no listener" }))
      }
    }
  }

  const admit = async (incoming: Incoming) => {
    const connection = incoming.accept({ zeroRtt: true })
    const { hostname: address, port } = connection.remoteAddr
    const end = () => connection.close(unwanted)
    const late = Scheduler.setTimeout(end, handshakeMillis)
    const leave = unfinished.begin(address, end)
    try {
      await judge(connection, { address, port })
    } finally {
      leave()
      Scheduler.clearTimeout(late)
    }
  }

  const judge = async (connection: Connection, remote: Endpoint) => {
    const opened = link.open({ registration: 0, kind: "mesh", tls: "none" })
    if (Result.isFailure(opened)) return connection.close(unwanted)
    const own = opened.success
    const reader = new FrameReader(own)
    own.write(encode({ _tag: "Incoming", listener: control.id, remote }))
    const judged = await reader.next(decode)
    if (Result.isFailure(judged) || judged.success._tag !== "Judged" || judged.success.verdict === "refuse") {
      connection.close(unwanted)
      own.end()
      return own.resume()
    }
    try {
      await connection.handshake
      void connections.hold(own, reader, connection)
    } catch (error) {
      own.end(encode({ _tag: "Failed", why: error instanceof Error ? error.message : "no handshake" }))
      own.resume()
    }
  }

  void renew()
  try {
    for await (const incoming of listener) void admit(incoming)
  } catch {
    // The listener was stopped.
  }
}
