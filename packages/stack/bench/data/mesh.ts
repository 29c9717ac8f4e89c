/**
 * The mesh plane from `ct-agent connect` to the origin: one TLS connection, one rendezvous and one Noise session for each
 * local connection, to an agent that multiplexes and to one that parks slots of role A, in turns with nothing between.
 */
import * as Capability from "@catenet/crypto/Capability"
import { native } from "@catenet/crypto/native"
import { freePorts } from "@catenet/testing/stack/e2e/Stack"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Aim } from "../Load.ts"
import { percentile, type Row } from "../Report.ts"
import * as Closed from "./Closed.ts"
import { Relay } from "./Relay.ts"
import type { SlotOptions } from "./slotService.ts"
import { type Turned, waysInTurns } from "./Ways.ts"

const millis = 1500
const megabytes = 128
const rounds = 3
const pool = 32

/** Where local clients connect to be brought to whom the capability names. */
const client = async (relay: Relay, capability: string): Promise<Aim> => {
  const port = (await freePorts()).demoOrigin
  const args = ["connect", "--capability", capability, "--listen", `127.0.0.1:${port}`]
  const started = relay.run(args, { CT_AGENT_EDGE_CERT: join(relay.folder, "edge-cert.der") })
  await started.printed("listening on")
  return { port }
}

/** The way through an agent that multiplexes. */
export const multiplexed = async (relay: Relay): Promise<Aim> => {
  const tunnel = await relay.tunnel("mesh", "gruen")
  const capability = join(relay.folder, "capability.bin")
  await relay.agent(tunnel, relay.ports.mesh, {
    CT_AGENT_MODE: "",
    CT_AGENT_HOSTNAME: "",
    CT_AGENT_ORIGIN: `127.0.0.1:${relay.origin.said.plain}`,
    CT_AGENT_CAPABILITY_OUT: capability
  })
  return client(relay, capability)
}

const slots = async (relay: Relay): Promise<Aim> => {
  const { host, token } = await relay.tunnel("mesh-slots", "gruen")
  const secret = randomBytes(32)
  const options: SlotOptions = {
    role: "A",
    edge: relay.ports.mesh,
    ca: relay.meshRoot,
    token,
    host,
    origin: relay.origin.said.plain,
    pool,
    secret: secret.toString("hex")
  }
  await relay.service("slotService.ts", options)
  const capability = join(relay.folder, "slots.bin")
  const bytes = Capability.encode({
    routingToken: Redacted.make(new Uint8Array(Buffer.from(token, "hex"))),
    originKey: native.x25519.keyPair(secret).publicKey,
    edgeAddress: `127.0.0.1:${relay.ports.mesh}`
  })
  writeFileSync(capability, bytes, { mode: 0o600 })
  return client(relay, capability)
}

const names = ["straight TCP", "mesh, mux", "mesh, byte protocol, role A"]

const rowsOf = (what: string, unit: string, turned: ReadonlyArray<Turned>, times: ReadonlyArray<string> = []) =>
  turned.map(({ ratio, value }, index): Row => {
    const row = { name: `${what}, ${names[index]}`, value, unit: `${unit}${times[index] ?? ""}` }
    return index === 0 ? row : { ...row, ratio, against: "straight TCP" }
  })

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  // The proof of work is a price on opening, which is not what is measured here.
  const relay = await Relay.make({ CT_EDGE_POW_DIFFICULTY: "4" })
  try {
    const ways: ReadonlyArray<Aim> = [{ port: relay.origin.said.plain }, await multiplexed(relay), await slots(relay)]
    const result: Array<Row> = []
    for (const connections of [1, 16, 64]) {
      const latencies: ReadonlyArray<Array<number>> = ways.map(() => [])
      const measure = (aim: Aim, index: number) => async () => {
        const rate = await Closed.requests(aim, connections, millis)
        for (const latency of rate.latencies) latencies[index]?.push(latency)
        return rate.perSecond
      }
      const turned = await waysInTurns(ways.map(measure), rounds)
      const times = latencies.map(
        (seen) => `  p50 ${percentile(seen, 0.5).toFixed(2)} ms, p99 ${percentile(seen, 0.99).toFixed(2)} ms`
      )
      result.push(...rowsOf(`requests on ${connections}`, "/s", turned, times))
    }
    for (const direction of ["down", "up"] as const)
      for (const connections of [1, 16]) {
        const measure = (aim: Aim) => () => Closed.megabytesPerSecond(aim, connections, megabytes, direction)
        result.push(...rowsOf(`${direction} on ${connections}`, "MB/s", await waysInTurns(ways.map(measure), rounds)))
      }
    return result
  } finally {
    await relay.dispose()
  }
}
