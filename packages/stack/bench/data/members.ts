/**
 * What members of channels cost an edge: those who wait, how many joins one core takes, and how long a join lasts from the first
 * packet to the first byte of the peer. The control plane says yes at once; both members are played in this process.
 */
import { startControlPlane } from "@catenet/testing/edge/ControlPlane"
import * as Members from "@catenet/testing/edge/Members"
import { Effect, Exit, Scope } from "effect"
import { residentMegabytes } from "../../test/e2e/Memory.ts"
import { secondsOf } from "../api/Processor.ts"
import type { Row } from "../Report.ts"
import { allowed } from "./Descriptors.ts"
import { Relay } from "./Relay.ts"

const wanted = 5000
const atOnce = 16
const pairs = 100
const settleMillis = 3000

/** Where it is, for those who wait in front of a terminal. */
const progress = (text: string) => void process.stderr.write(`  members: ${text}\n`)

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

const median = (values: ReadonlyArray<number>) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export const rows = async (): Promise<ReadonlyArray<Row>> => {
  const life = await Effect.runPromise(Scope.make())
  const controlPlane = await Effect.runPromise(startControlPlane.pipe(Scope.provide(life)))
  const relay = await Relay.make({
    CT_EDGE_CP_URL: controlPlane.url,
    CT_EDGE_MAX_CHANNEL_BROKER_CONNECTIONS: "0",
    CT_EDGE_KA_PARK_TTL_SECS: "3600"
  })
  try {
    const place = { controlPlane, frontDoor: relay.ports.frontDoor, meshRoot: relay.meshRoot }
    const edge = relay.edge.child.pid ?? -1
    const pair = () => {
      const channel = Members.channel()
      const both = [
        Members.member(channel, { direction: "accept" }),
        Members.member(channel, { direction: "initiate" })
      ] as const
      Members.register(place, ...both)
      return both
    }

    const waitingMember = () => {
      const member = Members.member(Members.channel())
      Members.register(place, member)
      return member
    }

    const secured: Array<number> = []
    const admitted: Array<number> = []
    const firstByte: Array<number> = []
    progress(`${pairs} pairs meet, one after the other`)
    for (let each = 0; each < pairs; each++) {
      const [waiting, coming] = pair()
      const first = await Members.join(place, waiting)
      const heard = Members.acknowledged(first).then(() => first.send(0x21))
      const from = performance.now()
      const second = await Members.dial(place)
      secured.push(performance.now() - from)
      second.send(Members.joinFrame(coming))
      second.send(Members.answer(coming, await second.take(32)))
      await Members.acknowledged(second)
      admitted.push(performance.now() - from)
      await second.take(1)
      firstByte.push(performance.now() - from)
      await heard
      for (const peer of [first, second]) peer.socket.destroy()
    }

    const count = allowed(wanted, 1)
    const coming = Array.from({ length: count }, waitingMember)
    progress(`${count} members come to wait`)
    await sleep(settleMillis)
    const before = { megabytes: residentMegabytes(edge), seconds: secondsOf(edge) }
    const from = performance.now()
    const waiting: Array<Members.Peer> = []
    let again = 0
    const worker = async () => {
      for (let member = coming.pop(); member !== undefined; member = coming.pop()) {
        const joined = await Members.join(place, member).catch(() => undefined)
        if (joined !== undefined) {
          waiting.push(joined)
          if (waiting.length % 500 === 0) progress(`${waiting.length} of ${count} members wait`)
          continue
        }
        // A machine that is busy with something else may miss the bounds of a handshake.
        coming.push(member)
        again += 1
        if (again > count / 10) throw new Error(`${again} joins failed, with ${waiting.length} members that wait`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    if (again > 0) progress(`${again} joins were made again`)
    const seconds = (performance.now() - from) / 1000
    const busy = secondsOf(edge) - before.seconds
    await sleep(settleMillis)
    const kilobytes = ((residentMegabytes(edge) - before.megabytes) * 1024 * 1.024) / count
    const left = waiting.filter(({ ended }) => ended).length
    if (left > 0) throw new Error(`${left} of ${count} members do not wait any more`)
    for (const peer of waiting) peer.socket.destroy()
    return [
      {
        name: "join to the first byte of a peer that waits, TLS included (median)",
        value: median(firstByte),
        unit: "ms"
      },
      { name: "of it, until TLS is up", value: median(secured), unit: "ms" },
      { name: "of it, until the acknowledgement", value: median(admitted), unit: "ms" },
      { name: `edge memory for each of ${count} waiting members`, value: kilobytes, unit: "kB" },
      { name: "joins, with the members played on the same machine", value: count / seconds, unit: "/s" },
      { name: "joins that one core of the edge takes", value: count / busy, unit: "/s" }
    ]
  } finally {
    await relay.dispose()
    await Effect.runPromise(Scope.close(life, Exit.void))
  }
}
