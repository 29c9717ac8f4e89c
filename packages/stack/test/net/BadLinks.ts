/**
 * Tunnels whose links are slow, silent, forgetful or lossy, on each carrier.
 * One file, since it is one matrix, of links and carriers.
 */
import { eventually } from "@catenet/testing/Eventually"
import { onThisMachine } from "@catenet/testing/Promptness"
import { digestOfStream } from "@catenet/testing/stack/e2e/Origins"
import { download, upload } from "@catenet/testing/stack/e2e/Transfers"
import { ask, serves, type Target } from "@catenet/testing/stack/e2e/Visitor"
import * as QuicProgram from "@catenet/wire/quic/process/QuicProgram"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Link } from "./Link.ts"
import { impossible, type PacketLink } from "./PacketLink.ts"
import { type Carrier, impatientSeconds, type Room, Rooms } from "./Rooms.ts"

const megabyte = 1024 * 1024
/** What a limit may be overrun by, since all of these cases live at once. */
const roomSeconds = 10
/** Outages that take longer than a gate should. */
const patient = process.env["CATENET_LONG_OUTAGES"] === "1"
/** Behind it TCP tries again at intervals of seconds. */
const outageSeconds = patient ? 10 : 6

interface Row<Kind> {
  readonly weather: string
  readonly carriers: ReadonlyArray<Carrier>
  readonly then: string
  readonly edge?: "impatient"
  readonly long?: true
  readonly live: (room: Room<Kind>) => Promise<void>
}

/** Fails when it takes longer than that, on a machine that is otherwise idle. */
const within = async <A>(seconds: number, what: string, task: Promise<A>): Promise<A> => {
  const late = new AbortController()
  const timer = sleep(onThisMachine(seconds * 1000), undefined, { signal: late.signal }).then(() => {
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
const transfers = async (target: Target, size: number, onBytes?: (size: number) => void) => {
  const both = [download(target, `/stream/${size}`, onBytes), upload(target, size, false)]
  assert.deepStrictEqual(await Promise.all(both), [whole(size), whole(size)])
}

/** Transfers that are struck by an outage when they are under way; resolves when they have ended after it. */
const struck = async (
  target: Target,
  size: number,
  outage: { readonly begin: () => void; readonly end: () => void }
) => {
  const begun = Promise.withResolvers<void>()
  const all = transfers(target, size, (sofar) => sofar > megabyte && begun.resolve())
  all.catch(begun.reject)
  await begun.promise
  outage.begin()
  await sleep(outageSeconds * 1_000)
  outage.end()
  await within(40, "what was left of the transfers", all)
}

const holding = (link: Link) => ({ begin: () => link.hold(), end: () => link.release() })

/** Starts a download that cannot end by itself, and resolves when it is under way. */
const underWay = async (link: Link, target: Target) => {
  // Slow enough to leave the processors to others.
  link.delayMillis = 100
  const begun = Promise.withResolvers<void>()
  const ended = download(target, `/stream/${1024 * megabyte}`, (size) => size > megabyte && begun.resolve())
  ended.catch(begun.reject)
  await begun.promise
  return { ended }
}

/** On a link of bytes, which every machine can have. */
const bytes: ReadonlyArray<Row<Link>> = [
  {
    weather: "100 ms each way",
    carriers: ["multiplexed", "raw", "framed"],
    then: "delays transfers and changes no byte",
    live: async (room) => {
      room.link.delayMillis = 100
      await within(30, "the transfers", transfers(room.tunnel.target, 2 * megabyte))
    }
  },
  {
    weather: `an outage of ${outageSeconds} s`,
    carriers: ["multiplexed", "raw", "framed"],
    then: "interrupts transfers that go on after it",
    live: async ({ link, tunnel }) => {
      link.delayMillis = 50
      await struck(tunnel.target, 8 * megabyte, holding(link))
    }
  },
  {
    weather: `an outage of ${outageSeconds} s between visitor and edge`,
    carriers: ["multiplexed"],
    then: "interrupts transfers that go on after it",
    live: async ({ visitorsLink }) => {
      const { link, target } = await visitorsLink()
      link.delayMillis = 50
      await struck(target, 8 * megabyte, holding(link))
    }
  },
  {
    weather: "an outage of a minute",
    carriers: ["multiplexed", "raw", "framed"],
    then: "breaks transfers or only interrupts them, and new visitors are served within 45 s after it",
    long: true,
    live: async ({ link, tunnel }) => {
      link.delayMillis = 50
      const size = 64 * megabyte
      const begun = Promise.withResolvers<void>()
      const ended = download(tunnel.target, `/stream/${size}`, (sofar) => sofar > megabyte && begun.resolve()).catch(
        (cause) => {
          begun.reject(cause)
          return "broken"
        }
      )
      await begun.promise
      link.hold()
      await sleep(60_000)
      link.release()
      await serves(tunnel.target, 45_000)
      const outcome = await within(60, "the end of the transfer", ended)
      if (outcome !== "broken") assert.deepStrictEqual(outcome, whole(size))
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
      // Sooner than anybody would notice an agent that cannot be reached.
      await serves(tunnel.target, 4000)
    }
  },
  {
    weather: "a middlebox that forgets flows which are silent for 10 s",
    carriers: ["raw"],
    then: "loses an answer that takes 13 s: the visitor's connection ends at the edge's idle limit, and others are served",
    edge: "impatient",
    live: async ({ link, tunnel }) => {
      link.forgetsAfterMillis = 10_000
      const end = ask(tunnel.target, { path: "/slow/13000", timeout: 60_000 }).then(
        ({ status }) => status,
        () => 0
      )
      assert.notStrictEqual(await within(impatientSeconds * 1.25 + roomSeconds, "the end of the visit", end), 200)
      await serves(tunnel.target, 5000)
    }
  },
  {
    weather: "an agent's side that is gone without a word to the edge",
    carriers: ["multiplexed", "framed"],
    then: "breaks what was under way within 30 s, and new visitors are served within 15 s",
    live: async (room) => {
      const { ended } = await underWay(room.link, room.tunnel.target)
      room.link.vanish("dialler")
      await serves(room.tunnel.target, 15_000)
      await within(30, "the end of the transfer", failure(ended))
    }
  },
  {
    weather: "an edge's side that is gone without a word to the agent",
    carriers: ["multiplexed"],
    then: "breaks what was under way at once, and new visitors are served within 35 s",
    live: async (room) => {
      const { ended } = await underWay(room.link, room.tunnel.target)
      room.link.vanish("target")
      await within(5, "the end of the transfer", failure(ended))
      await serves(room.tunnel.target, 35_000)
    }
  },
  {
    weather: "a visitor who is gone without a word",
    carriers: ["multiplexed"],
    then: "costs the origin nothing after the edge's idle limit",
    edge: "impatient",
    live: async ({ answering, visitorsLink }) => {
      const { link, target } = await visitorsLink()
      const { ended } = await underWay(link, target)
      assert.strictEqual(answering(), 1)
      link.vanish("dialler")
      await within(5, "the end of the transfer", failure(ended))
      await eventually(
        async () => answering() === 0,
        "the end of the answer",
        onThisMachine((impatientSeconds * 1.25 + roomSeconds) * 1000)
      )
    }
  }
]

/** On a link of packets, where kernels at both ends repair what they can. */
const packets: ReadonlyArray<Row<PacketLink>> = [
  {
    weather: "1 % loss and 100 ms there and back",
    carriers: ["multiplexed", "quic", "framed"],
    then: "slows transfers and changes no byte",
    live: async (room) => {
      room.link.weather({ delayMillis: 50, loss: 0.01 })
      await within(40, "the transfers", transfers(room.tunnel.target, megabyte))
    }
  },
  {
    weather: "5 % loss and 100 ms there and back",
    carriers: ["multiplexed", "quic", "raw", "framed"],
    then: "slows transfers and changes no byte",
    live: async (room) => {
      room.link.weather({ delayMillis: 50, loss: 0.05 })
      await within(60, "the transfers", transfers(room.tunnel.target, megabyte / 4))
    }
  },
  {
    weather: "1 % loss and 30 ms there and back",
    carriers: ["quic"],
    then: "slows transfers and changes no byte",
    live: async (room) => {
      room.link.weather({ delayMillis: 15, loss: 0.01 })
      await within(40, "the transfers", transfers(room.tunnel.target, megabyte))
    }
  },
  {
    weather: "5 % loss and 200 ms there and back",
    carriers: ["quic"],
    then: "slows transfers and changes no byte",
    live: async (room) => {
      room.link.weather({ delayMillis: 100, loss: 0.05 })
      await within(60, "the transfers", transfers(room.tunnel.target, megabyte / 8))
    }
  },
  {
    weather: `an outage of ${outageSeconds} s`,
    carriers: ["multiplexed", "raw", "framed"],
    then: "interrupts transfers that go on after it",
    live: async ({ link, tunnel }) => {
      const weather = (loss: number) => () => link.weather({ delayMillis: 50, loss })
      weather(0)()
      await struck(tunnel.target, 4 * megabyte, { begin: weather(1), end: weather(0) })
    }
  },
  {
    weather: "5 s without UDP",
    carriers: ["quic"],
    then: "interrupts transfers that go on after it",
    live: async ({ link, tunnel }) => {
      link.weather({ delayMillis: 50, loss: 0 })
      const begun = Promise.withResolvers<void>()
      const size = 4 * megabyte
      const ended = download(tunnel.target, `/stream/${size}`, (sofar) => sofar > megabyte / 4 && begun.resolve())
      ended.catch(begun.reject)
      await begun.promise
      link.weather({ delayMillis: 50, loss: 1 })
      await sleep(5_000)
      link.weather({ delayMillis: 50, loss: 0 })
      assert.deepStrictEqual(await within(40, "the transfer", ended), whole(size))
    }
  }
]

const hasQuic = QuicProgram.find() !== undefined
if (!hasQuic) process.stderr.write("SKIPPED: tunnels by QUIC need the runtime of this platform.\n")
const refusal = impossible()
if (refusal !== undefined)
  process.stderr.write(
    `SKIPPED: links of packets need user and network namespaces, ip, unshare and nsenter: ${refusal}\n`
  )

/** Lives all of them at once. */
export const tunnels = () =>
  describe.concurrent("a bad link between agent and edge", () => {
    const cases = <Kind>(rows: ReadonlyArray<Row<Kind>>) =>
      rows.flatMap((row) => {
        const carriers = row.carriers.filter((carrier) => hasQuic || carrier !== "quic")
        return carriers.map((carrier) => Object.assign({ carrier, name: `${row.weather} ${row.then}` }, row))
      })
    const runs = ({ long }: { readonly long?: true }) => patient || long !== true
    const ofBytes = cases(bytes)
    const ofPackets = cases(packets)
    const outcomes = new Map<object, Promise<void>>()
    let rooms: Rooms

    // Most of their time is waiting, so all of them live at once.
    beforeAll(async () => {
      rooms = await Rooms.open()
      const live: Array<() => void> = []
      const prepare =
        <Kind>(row: Row<Kind>, made: () => Promise<Room<Kind>>) =>
        async () => {
          const room = await made()
          live.push(() => {
            const outcome = row.live(room)
            outcome.catch(() => {})
            outcomes.set(row, outcome)
          })
        }
      const preparations = [
        ...ofBytes.filter(runs).map((row) => prepare(row, () => rooms.withLink(row.carrier, row.edge ?? "patient"))),
        ...(refusal === undefined ? ofPackets : []).map((row) => prepare(row, () => rooms.withPacketLink(row.carrier)))
      ]
      // All are awaited even when one fails, so that the end finds everything that was started.
      const worker = async () => {
        for (let next = preparations.shift(); next !== undefined; next = preparations.shift()) await next()
      }
      for (const outcome of await Promise.allSettled(Array.from({ length: 4 }, worker)))
        if (outcome.status === "rejected") throw outcome.reason
      for (const begin of live) begin()
    }, 300_000)
    afterAll(() => rooms?.close())

    for (const row of ofBytes) it.skipIf(!runs(row))(`(${row.carrier}) ${row.name}`, () => outcomes.get(row))
    for (const row of ofPackets)
      it.skipIf(refusal !== undefined)(`(${row.carrier}, packets) ${row.name}`, () => outcomes.get(row))
  })
