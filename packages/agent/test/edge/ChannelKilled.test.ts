/** Members of a channel that are killed at any point: nothing hangs, and a serving member serves again. */
import { type Agent, type Home, makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeChannel, type Member } from "@catenet/testing/agent/Member"
import { eventually, start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { randomInt, X509Certificate } from "node:crypto"
import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"

const life = Effect.runSync(Scope.make())
let world: TestEdge
let root: string
beforeAll(async () => {
  world = await Effect.runPromise(Effect.provideService(start({}), Scope.Scope, life))
  root = new X509Certificate(world.meshRoot).raw.toString("hex")
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const env = ({ env }: Member) => ({
  ...env,
  // Closed ports are refused at once; by QUIC that takes 5 s.
  CT_CHANNEL_TRANSPORTS: "tls",
  CT_CHANNEL_BROKER: "127.0.0.1:1",
  CT_CHANNEL_RELAY: "127.0.0.1:1",
  CT_CHANNEL_RELAY_ONLY: "1",
  CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${world.frontDoor}`,
  CT_CHANNEL_FRONT_DOOR_CERT: root,
  CT_CHANNEL_FRONT_DOOR_ONLY: "1"
})

/** Where in a call a party is killed. */
const points = {
  "at its start": () => Promise.resolve(),
  "when the session is open": async ({ caller }: Round) => void (await caller.said("open, by")),
  "while its call runs": ({ home }: Round) =>
    eventually(() => existsSync(join(home.path, "running")), "the command of the service runs")
}
interface Round {
  readonly home: Home
  readonly caller: Agent
}

const all = Object.keys(points).flatMap((point) => (["caller", "server"] as const).map((party) => ({ party, point })))

/** One of each party; a campaign asks for so many more, anywhere. */
const rounds = Number(process.env["CT_CAMPAIGN_ROUNDS"] ?? "0")
const chosen = [
  { party: "caller", point: "while its call runs" },
  { party: "server", point: "when the session is open" },
  ...Array.from({ length: rounds }, () => all[randomInt(all.length)])
]

describe("a member that is killed", () => {
  it("leaves a peer that ends with a sentence or serves on, and a channel on which the next call succeeds", async () => {
    const channel = makeChannel()
    const [initiator, acceptor] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, initiator, acceptor)
    await using home = await makeHome()
    const serving = {
      ...env(acceptor),
      CT_CHANNEL_SERVE: "1",
      CT_AGENT_SERVICES: "text_generation",
      CT_AGENT_SERVICE_HANDLER_CMD: `case "$(cat)" in wait) touch running; sleep 600;; *) echo served;; esac`
    }
    const serve = () => runAgent(home, serving, ["channel"])
    const call = (input: string) =>
      runAgent(home, { ...env(initiator), CT_CHANNEL_CALL_SERVICE: "text_generation" }, ["channel"], input)
    let server = serve()
    try {
      for (const { party, point } of chosen as typeof all) {
        const caller = call("wait")
        await points[point as keyof typeof points]({ home, caller })
        const killed = party === "caller" ? caller : server
        killed.kill("SIGKILL")
        assert.strictEqual(await killed.exited, 137)
        if (party === "server") {
          server = serve()
          // One that had no session yet meets the new server, and its call waits for ever.
          if (point === "at its start") caller.kill("SIGKILL")
          else assert.strictEqual(await caller.exited, 1, `${party} ${point}: ${caller.lines.join("\n")}`)
          await caller.exited
        }
        await rm(join(home.path, "running"), { force: true })
        const next = call("now")
        assert.strictEqual(await next.exited, 0, `after ${party} ${point}: ${next.lines.join("\n")}`)
        assert.strictEqual(next.stdout(), "served\n")
      }
    } finally {
      server.kill("SIGKILL")
      await server.exited
    }
  })
})
