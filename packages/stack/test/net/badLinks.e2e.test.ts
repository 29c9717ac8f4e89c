import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { digestOfStream, httpOrigin, type Origin } from "../e2e/Origins.ts"
import { agent, type Spawned } from "../e2e/Stack.ts"
import { download, upload } from "../e2e/Transfers.ts"
import { provision, type Tunnel } from "../e2e/Tunnel.ts"
import { ask, serves } from "../e2e/Visitor.ts"
import { Fleet } from "./Fleet.ts"
import { Link } from "./Link.ts"

const megabyte = 1024 * 1024
const carriers = {
  multiplexed: {},
  raw: { CT_AGENT_REGISTER_TCP_ONLY: "1" },
  framed: { CT_AGENT_REGISTER_TCP_ONLY: "1", CT_AGENT_FRAMED_FALLBACK: "1" }
}
type Carrier = keyof typeof carriers

interface Room {
  readonly link: Link
  readonly tunnel: Tunnel
  readonly agent: Spawned
}

interface Case {
  readonly weather: string
  readonly carriers: ReadonlyArray<Carrier>
  readonly then: string
  readonly live: (room: Room) => Promise<void>
}

/** Fails when it takes longer than that. */
const within = async <A>(seconds: number, what: string, task: Promise<A>): Promise<A> => {
  const late = new AbortController()
  const timer = sleep(seconds * 1000, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${what} took longer than ${seconds} s`)
  })
  timer.catch(() => {})
  return Promise.race([task, timer]).finally(() => late.abort())
}

/** The failure of a task that must fail. */
const failure = (task: Promise<unknown>): Promise<string> =>
  task.then(
    (value) => assert.fail(`it was not to succeed: ${JSON.stringify(value)}`),
    (cause) => String(cause)
  )

const whole = (size: number) => ({ digest: digestOfStream(size), size })

/** Both ways at once; `onBytes` hears of the download. */
const transfers = async ({ tunnel }: Room, size: number, onBytes?: (size: number) => void) => {
  const [down, up] = await Promise.all([
    download(tunnel.target, `/stream/${size}`, onBytes),
    upload(tunnel.target, size, false)
  ])
  assert.deepStrictEqual(down, whole(size))
  assert.deepStrictEqual(up, whole(size))
}

/** Starts a download that cannot end by itself, and resolves when it is under way. */
const underWay = async ({ link, tunnel }: Room) => {
  // Slow enough to leave the processors to others.
  link.delayMillis = 100
  const begun = Promise.withResolvers<void>()
  const ended = download(tunnel.target, `/stream/${1024 * megabyte}`, (size) => size > megabyte && begun.resolve())
  ended.catch(begun.reject)
  await begun.promise
  return { ended }
}

const table: ReadonlyArray<Case> = [
  {
    weather: "100 ms each way",
    carriers: ["multiplexed", "raw", "framed"],
    then: "delays transfers and changes no byte",
    live: async (room) => {
      room.link.delayMillis = 100
      await within(30, "the transfers", transfers(room, 2 * megabyte))
    }
  },
  {
    weather: "an outage of 10 s",
    carriers: ["multiplexed", "raw", "framed"],
    then: "interrupts transfers that go on after it",
    live: async (room) => {
      room.link.delayMillis = 50
      const struck = Promise.withResolvers<void>()
      const all = transfers(room, 8 * megabyte, (size) => size > megabyte && struck.resolve())
      all.catch(struck.reject)
      await struck.promise
      room.link.hold()
      await sleep(10_000)
      room.link.release()
      await within(30, "what was left of the transfers", all)
    }
  },
  {
    weather: "a middlebox that forgets flows which are silent for 10 s",
    carriers: ["multiplexed", "framed"],
    then: "does not touch an answer that takes 13 s, nor agents that wait",
    live: async ({ link, tunnel }) => {
      link.forgetsAfterMillis = 10_000
      const { body } = await ask(tunnel.target, { path: "/slow/13000", timeout: 20_000 })
      assert.strictEqual(body.toString(), "slow")
      await serves(tunnel.target, 1000)
    }
  },
  {
    weather: "a middlebox that forgets flows which are silent for 10 s",
    carriers: ["raw"],
    then: "loses an answer that takes 13 s: the visitor is told at the idle limit, and others are served",
    live: async ({ link, tunnel }) => {
      link.forgetsAfterMillis = 10_000
      const waiting = ask(tunnel.target, { path: "/slow/13000", timeout: 60_000 }).then(({ status }) => {
        assert.notStrictEqual(status, 200)
        throw new Error(`status ${status}`)
      })
      await within(idleSeconds * 1.25 + 2, "the end of the visit", failure(waiting))
      await serves(tunnel.target, 5000)
    }
  },
  {
    weather: "an agent's side that is gone without a word to the edge",
    carriers: ["multiplexed", "framed"],
    then: "breaks what was under way within 30 s, and new visitors are served within 15 s",
    live: async (room) => {
      const { ended } = await underWay(room)
      room.link.vanish("dialler")
      await serves(room.tunnel.target, 15_000)
      await within(30, "the end of the transfer", failure(ended))
    }
  },
  {
    weather: "an edge's side that is gone without a word to the agent",
    carriers: ["multiplexed"],
    then: "breaks what was under way at once, and new visitors are served within 25 s",
    live: async (room) => {
      const { ended } = await underWay(room)
      room.link.vanish("target")
      await within(5, "the end of the transfer", failure(ended))
      await serves(room.tunnel.target, 25_000)
    }
  }
]

const idleSeconds = 16
let fleet: Fleet
let origin: Origin
const links: Array<Link> = []
const agents: Array<Spawned> = []

let number = 0
const settle = async (carrier: Carrier): Promise<Room> => {
  const hostname = `bad-${Math.random().toString(36).slice(2, 8)}-${number++}.catenet.localhost`
  const [link, tunnel] = await Promise.all([Link.open(fleet.first.ports.mesh), provision(fleet, hostname, origin.port)])
  links.push(link)
  const program = agent([], {
    ...tunnel.variables,
    ...carriers[carrier],
    CT_AGENT_EDGE: `127.0.0.1:${link.port}`,
    CT_AGENT_TCP_FALLBACK_POOL_SIZE: "3"
  })
  agents.push(program)
  const died = program.ended.then(({ code, stderr }) => {
    throw new Error(`the agent ended with ${code}:\n${stderr}`)
  })
  died.catch(() => {})
  const slots = carrier === "multiplexed" ? 1 : 3
  await Promise.race([fleet.registered(fleet.first, tunnel.token, slots, 60_000), died])
  await serves(tunnel.target, 10_000)
  return { link, tunnel, agent: program }
}

describe("a bad link between agent and edge", () => {
  const cases = table.flatMap((row) => row.carriers.map((carrier) => ({ ...row, carrier })))
  const outcomes = new Map<object, Promise<void>>()

  // Most of their time is waiting, so all of them live at once.
  beforeAll(async () => {
    origin = await httpOrigin()
    fleet = await Fleet.start(1, { CT_EDGE_RELAY_IDLE_SECS: String(idleSeconds) })
    const rooms = await Promise.all(cases.map(async (row) => ({ row, room: await settle(row.carrier) })))
    for (const { room, row } of rooms) {
      const outcome = row.live(room)
      outcome.catch(() => {})
      outcomes.set(row, outcome)
    }
  })
  afterAll(async () => {
    await Promise.all(agents.map((program) => program.stop("SIGKILL")))
    await Promise.all(links.map((link) => link.close()))
    await origin?.close()
    await fleet?.dispose()
  })

  for (const row of cases) it(`(${row.carrier}) ${row.weather} ${row.then}`, () => outcomes.get(row))
})
