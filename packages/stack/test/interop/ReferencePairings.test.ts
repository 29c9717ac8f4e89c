/**
 * Edge, agent and client by QUIC, each ours or the reference's: eight pairings, and visitors of the four of edge and agent.
 * `CT_REFERENCE_BIN_DIR` names a folder with the reference's `ct-edge`, `ct-agent` and `ct-client`; without it all are skipped.
 */
import { eventually } from "@catenet/testing/Eventually"
import { agent as ourAgent, catenet, Spawned } from "@catenet/testing/stack/e2e/Stack"
import { ask } from "@catenet/testing/stack/e2e/Visitor"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { get } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type Programs, programsAt, Relay } from "../../bench/data/Relay.ts"
import { freePort } from "../../src/Ports.ts"
import { skipped } from "./GoPrograms.ts"

const folder = process.env["CT_REFERENCE_BIN_DIR"]
const names = ["ct-edge", "ct-agent", "ct-client"] as const
const missing = names.filter((name) => folder === undefined || !existsSync(join(folder, name)))
const why =
  missing.length > 0
    ? `${missing.join(", ")} of the reference: CT_REFERENCE_BIN_DIR names no folder that has them`
    : QuicProgram.find() === undefined
      ? "the runtime of QUIC is not installed"
      : undefined
if (why !== undefined) skipped("the pairings by QUIC with the reference", why)

const makers = ["ours", "the reference's"] as const
type Maker = (typeof makers)[number]
const pathOf = (name: (typeof names)[number]) => join(folder ?? "", name)
const patience = 60_000

const programsOf = (edge: Maker, agent: Maker): Programs => {
  const reference = programsAt(pathOf("ct-edge"), pathOf("ct-agent"))
  return {
    ...(edge === "ours" ? { edge: (env) => catenet(["edge"], env), ready: "edge ready" } : { edge: reference.edge }),
    agent: agent === "ours" ? ourAgent : reference.agent
  }
}

/** Ours takes nothing else; the reference's dials QUIC first, and does not know the variable. */
const byQuic = { CT_AGENT_TRANSPORTS: "quic" }

const addressOf = (port: number) => `127.0.0.1:${port}`
const aPort = () => Effect.runPromise(freePort("127.0.0.1"))

/** A mesh agent that is registered, and its capability. */
const meshAgent = async (relay: Relay, origin: string, more: Readonly<Record<string, string>> = {}) => {
  const token = randomBytes(32).toString("hex")
  const capability = join(relay.folder, `${token}.bin`)
  relay.run([], {
    CT_AGENT_CP_URL: "http://127.0.0.1:1",
    CT_AGENT_TOKEN: token,
    CT_AGENT_EDGE: addressOf(relay.ports.mesh),
    CT_AGENT_EDGE_CERT: join(relay.folder, "edge-cert.der"),
    CT_AGENT_STATE_DIR: join(relay.folder, `${token}-state`),
    CT_AGENT_CAPABILITY_OUT: capability,
    CT_AGENT_ORIGIN: origin,
    ...byQuic,
    ...more
  })
  await eventually(() => relay.connected(token), "the agent registers", patience)
  await eventually(() => existsSync(capability), "the capability is written", patience)
  return capability
}

/** A client that forwards a local port, by QUIC alone. */
const forwarding = (client: Maker, relay: Relay, capability: string, port: number): Spawned => {
  const root = join(relay.folder, "edge-cert.der")
  const args = ["connect", "--capability", capability, "--ca", root, "--listen", addressOf(port), "--via-edge"]
  if (client === "ours") return ourAgent(args, byQuic)
  const variables = {
    CT_CLIENT_MODE: "forward",
    CT_CLIENT_LISTEN: addressOf(port),
    CT_CLIENT_CAPABILITY: capability,
    CT_CLIENT_EDGE_CERT: root
  }
  return new Spawned([], variables, ["sh", "-c", 'exec "$0"', pathOf("ct-client")])
}

const connectable = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
    socket.once("connect", () => socket.destroy())
  })

const bodyOf = async (port: number, path: string) => {
  const [response] = await once(get({ host: "127.0.0.1", port, path, agent: false }), "response")
  return (await buffer(response)).length
}

/** What carries the tunnel, by the books of our edge. */
const carriedBy = async (relay: Relay, token: string) =>
  (await relay.admin("GET", `/internal/tunnel/history/${token}`)).text()

describe.skipIf(why !== undefined)("by QUIC", () => {
  for (const edge of makers)
    for (const agent of makers)
      describe(`an edge of ${edge} and an agent of ${agent}`, () => {
        let relay: Relay
        beforeAll(async () => {
          relay = await Relay.make({}, programsOf(edge, agent))
        })
        afterAll(() => relay?.dispose())

        it("serve visitors", async () => {
          const made = await relay.tunnel("visited", "gelb")
          const origin = addressOf(relay.origin.said.plain)
          await relay.agent(made, relay.ports.mesh, { CT_AGENT_ORIGIN: origin, ...byQuic })
          const target = { host: made.host, port: relay.ports.frontDoor, ca: relay.ca }
          const answers = await Promise.all(
            Array.from({ length: 20 }, (_, at) => ask(target, { path: `/stream/${at * 10_000}` }))
          )
          assert.deepStrictEqual(
            answers.map(({ body, status }) => [status, body.length]),
            answers.map((_, at) => [200, at * 10_000])
          )
          if (edge === "ours") assert.include(await carriedBy(relay, made.token), '"transport":"quic"')
        })

        for (const client of makers)
          it(`bring a client of ${client} to the origin, many connections at once`, async () => {
            const capability = await meshAgent(relay, addressOf(relay.origin.said.plain))
            const port = await aPort()
            const running = forwarding(client, relay, capability, port)
            try {
              await eventually(
                () => connectable(port),
                () => `the client listens: ${running.stderr}`,
                patience
              )
              const sizes = Array.from({ length: 20 }, (_, at) => at * 50_000)
              assert.deepStrictEqual(await Promise.all(sizes.map((size) => bodyOf(port, `/stream/${size}`))), sizes)
            } finally {
              await running.stop("SIGKILL")
            }
          })

        it("bring a datagram of the reference's client to the origin, and its echo back", async () => {
          const echo = createSocket("udp4")
          const heard = new Set<string>()
          echo.on("message", (datagram, from) => {
            heard.add(String(datagram))
            echo.send(datagram, from.port, from.address)
          })
          echo.bind(0, "127.0.0.1")
          await once(echo, "listening")
          try {
            const capability = await meshAgent(relay, addressOf(echo.address().port), { CT_AGENT_ORIGIN_PROTO: "udp" })
            const said = "a datagram"
            const variables = {
              CT_CLIENT_MODE: "udp",
              CT_CLIENT_PAYLOAD: said,
              CT_CLIENT_CAPABILITY: capability,
              CT_CLIENT_EDGE_CERT: join(relay.folder, "edge-cert.der")
            }
            const client = new Spawned([], variables, ["sh", "-c", 'exec "$0"', pathOf("ct-client")])
            const { code, stderr } = await client.ended
            assert.strictEqual(code, 0, stderr)
            assert.isTrue(heard.has(said))
          } finally {
            echo.close()
          }
        })
      })
})
