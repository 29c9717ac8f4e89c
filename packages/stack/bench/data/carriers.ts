/** Visitors through each carrier at 1, 64 and 1,000 connections, and bulk both ways, all in turns with no tunnel at all. */
import type { BrowserRole } from "@catenet/wire/frames/Role"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import type { Aim } from "../Load.ts"
import { percentile, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { allowed } from "./Descriptors.ts"
import { Relay } from "./Relay.ts"
import type { SlotOptions } from "./slotService.ts"
import { type Turned, waysInTurns } from "./Ways.ts"

interface Way {
  readonly name: string
  readonly aim: Aim
}

const rounds = 3
const millis = 1500
const megabytes = 192
const pool = 48

const slots = async (relay: Relay, role: BrowserRole): Promise<Way> => {
  const tunnel = await relay.tunnel(`slot-${role.toLowerCase()}`, "gelb")
  const options: SlotOptions = {
    role,
    edge: relay.ports.mesh,
    ca: relay.meshRoot,
    token: tunnel.token,
    host: tunnel.host,
    origin: relay.origin.said.plain,
    pool
  }
  await relay.service("slotService.ts", options)
  return { name: `gelb, byte protocol, role ${role}`, aim: tunnel.aim }
}

const multiplexed = async (relay: Relay, name: string, tier: "gelb" | "gruen", port: number): Promise<Way> => {
  const { plain, tls } = relay.origin.said
  const tunnel = await relay.tunnel(name, tier)
  await relay.agent(tunnel, port, { CT_AGENT_ORIGIN: `127.0.0.1:${tier === "gelb" ? plain : tls}` })
  return { name: `${tier}, mux, ${name.endsWith("front") ? "front door" : "mesh port"}`, aim: tunnel.aim }
}

/** The edge's QUIC comes up beside its other listeners, so that the agent may have to dial twice. */
const byQuic = async (relay: Relay, tier: "gelb" | "gruen"): Promise<Way> => {
  const { plain, tls } = relay.origin.said
  const tunnel = await relay.tunnel(`${tier}-quic`, tier)
  const origin = `127.0.0.1:${tier === "gelb" ? plain : tls}`
  await relay.agent(tunnel, relay.ports.mesh, { CT_AGENT_ORIGIN: origin, CT_AGENT_TRANSPORTS: "quic" })
  return { name: `${tier}, QUIC`, aim: tunnel.aim }
}

const waysOf = async (relay: Relay): Promise<ReadonlyArray<Way>> => [
  {
    name: "straight to the origin, TLS",
    aim: { port: relay.origin.said.tls, servername: "origin.bench.localhost", ca: relay.ca }
  },
  { name: "straight to the origin, TCP", aim: { port: relay.origin.said.plain } },
  await multiplexed(relay, "gelb-mesh", "gelb", relay.ports.mesh),
  await multiplexed(relay, "gelb-front", "gelb", relay.ports.frontDoor),
  await multiplexed(relay, "gruen-mesh", "gruen", relay.ports.mesh),
  ...(QuicProgram.find() === undefined ? [] : [await byQuic(relay, "gelb"), await byQuic(relay, "gruen")]),
  await slots(relay, "B"),
  await slots(relay, "L"),
  await slots(relay, "F")
]

const rowsOf = (
  what: string,
  unit: string,
  ways: ReadonlyArray<Way>,
  turned: ReadonlyArray<Turned>,
  latencies: ReadonlyArray<ReadonlyArray<number>> = []
): ReadonlyArray<Row> =>
  ways.map(({ name }, index) => {
    const { value = Number.NaN, ratio = Number.NaN } = turned[index] ?? {}
    const seen = latencies[index] ?? []
    const times =
      seen.length === 0
        ? ""
        : `  p50 ${percentile(seen, 0.5).toFixed(2)} ms, p99 ${percentile(seen, 0.99).toFixed(2)} ms`
    const row = { name: `${what}, ${name}`, value, unit: `${unit}${times}` }
    return index === 0 ? row : { ...row, ratio, against: "TLS straight" }
  })

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const relay = await Relay.make()
  try {
    const ways = await waysOf(relay)
    const result: Array<Row> = []
    for (const connections of [1, 64, allowed(1000, 2)]) {
      const latencies: Array<Array<number>> = ways.map(() => [])
      const turned = await waysInTurns(
        ways.map(({ aim }, index) => async () => {
          const rate = await Closed.requests(aim, connections, millis)
          for (const latency of rate.latencies) latencies[index]?.push(latency)
          return rate.perSecond
        }),
        rounds
      )
      result.push(...rowsOf(`requests on ${connections}`, "/s", ways, turned, latencies))
    }
    for (const direction of ["down", "up"] as const)
      for (const connections of [1, 16]) {
        const measure = (aim: Aim) => () => Closed.megabytesPerSecond(aim, connections, megabytes, direction)
        const turned = await waysInTurns(
          ways.map(({ aim }) => measure(aim)),
          rounds
        )
        result.push(...rowsOf(`${direction} on ${connections}`, "MB/s", ways, turned))
      }
    return result
  } finally {
    await relay.dispose()
  }
}
