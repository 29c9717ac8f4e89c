/**
 * Public ports: TCP beside the mesh tunnel and beside nothing between, and datagrams that come back through a UDP port beside those
 * that an echo of node:dgram alone returns.
 */
import { createSocket } from "node:dgram"
import type { Aim } from "../Load.ts"
import type { Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { multiplexed } from "./mesh.ts"
import * as PublicPorts from "./PublicPorts.ts"
import { Relay } from "./Relay.ts"
import { waysInTurns } from "./Ways.ts"

const rounds = 5
export const echoMillis = 1_500
/** Until an exchange of datagrams is measured. */
export const settleMillis = 300
const megabytes = 256

/** Bytes of a datagram. */
export const size = 200
const clients = 4
/** Datagrams of each client that are under way; a lost one is made up for by the next tick. */
const window = 64

/** Datagrams that come back in a second. */
export const echoes = async (port: number) => {
  const datagram = Buffer.alloc(size, 7)
  let count = 0
  const sockets = Array.from({ length: clients }, () => {
    const socket = createSocket({ type: "udp4", recvBufferSize: 4_194_304 })
    let underway = 0
    const send = () => {
      underway += 1
      socket.send(datagram, port, "127.0.0.1")
    }
    socket.on("message", () => {
      count += 1
      underway -= 1
      send()
    })
    let before = -1
    // Begins, and begins again where all that were under way are lost.
    const tick = setInterval(() => {
      if (count === before) underway = 0
      before = count
      for (let missing = window - underway; missing > 0; missing--) send()
    }, 50)
    return () => {
      clearInterval(tick)
      socket.close()
    }
  })
  await new Promise((resolve) => setTimeout(resolve, settleMillis))
  const [from, counted] = [performance.now(), count]
  await new Promise((resolve) => setTimeout(resolve, echoMillis))
  const perSecond = ((count - counted) * 1_000) / (performance.now() - from)
  for (const close of sockets) close()
  return perSecond
}

const rowsOf = async (
  what: string,
  unit: string,
  names: ReadonlyArray<string>,
  ways: ReadonlyArray<() => Promise<number>>
) => {
  const turned = await waysInTurns(ways, rounds)
  return turned.map(({ ratio, value }, index): Row => {
    const name = `${what}, ${names[index]}`
    return index === 0 ? { name, value, unit } : { name, value, unit, ratio, against: names[0] ?? "" }
  })
}

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const ports = await PublicPorts.offered()
  const relay = await Relay.make({ CT_EDGE_POW_DIFFICULTY: "4", ...ports.variables })
  try {
    await PublicPorts.serve(relay, "tcp", ports.tcp, relay.origin.said.plain)
    const echo = await relay.service<{ readonly port: number }>("udpEchoService.ts", {})
    await PublicPorts.serve(relay, "udp", ports.udp, echo.said.port)
    const names = ["straight TCP", "mesh", "TCP port"]
    const aims: ReadonlyArray<Aim> = [{ port: relay.origin.said.plain }, await multiplexed(relay), { port: ports.tcp }]
    const result: Array<Row> = []
    for (const connections of [1, 64]) {
      const measure = (aim: Aim) => async () => (await Closed.requests(aim, connections, echoMillis)).perSecond
      result.push(...(await rowsOf(`requests on ${connections}`, "/s", names, aims.map(measure))))
    }
    for (const direction of ["down", "up"] as const)
      for (const connections of [1, 4]) {
        const measure = (aim: Aim) => () => Closed.megabytesPerSecond(aim, connections, megabytes, direction)
        result.push(...(await rowsOf(`${direction} on ${connections}`, "MB/s", names, aims.map(measure))))
      }
    const ways = [echo.said.port, ports.udp].map((port) => () => echoes(port))
    result.push(...(await rowsOf(`datagrams of ${size} bytes and back`, "/s", ["node:dgram alone", "UDP port"], ways)))
    return result
  } finally {
    await relay.dispose()
    ports.stop()
  }
}
