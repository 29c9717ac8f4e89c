/**
 * Visitors of every kind on one tunnel: short and long ones, some that leave in the middle, some that read slowly,
 * WebSockets, and one in twenty that sends nonsense. Counts what it saw, for comparison with what the programs counted.
 */
import { ask, dial, type Target } from "@catenet/testing/stack/e2e/Visitor"
import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { type ClientOptions, WebSocket } from "ws"

export type Kind = "short" | "long" | "aborted" | "slow" | "websocket" | "malformed"

export type Seen = Record<Kind, { done: number; failed: number }>

const kinds: ReadonlyArray<readonly [Kind, number]> = [
  ["short", 50],
  ["long", 15],
  ["aborted", 10],
  ["slow", 10],
  ["websocket", 10],
  ["malformed", 5]
]

/** A small generator with a seed (xorshift), so that a run can be repeated. */
const dice = (seed: number) => {
  let state = seed | 1
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const pick = (roll: (below: number) => number): Kind => {
  let left = roll(100)
  for (const [kind, share] of kinds) {
    if (left < share) return kind
    left -= share
  }
  return "short"
}

const long = 2 * 1024 * 1024

const head = (target: Target, path: string) =>
  `GET ${path} HTTP/1.1\r\nhost: ${target.host}\r\nconnection: close\r\n\r\n`

const aborted = async (target: Target) => {
  const socket = await dial(target)
  socket.on("error", () => {})
  socket.write(head(target, `/stream/${16 * 1024 * 1024}`))
  await new Promise((resolve) => socket.once("data", resolve).once("close", resolve))
  socket.destroy()
}

const slow = async (target: Target) => {
  const socket = await dial(target)
  socket.on("error", () => {})
  socket.write(head(target, `/stream/${long}`))
  let size = 0
  for await (const chunk of socket) {
    size += (chunk as Buffer).length
    await sleep(5)
  }
  if (size < long) throw new Error(`a slow visitor got ${size} bytes`)
}

const webSocket = async (target: Target) => {
  const client = new WebSocket(`wss://127.0.0.1:${target.port}/`, {
    ca: target.ca,
    servername: target.host,
    headers: { host: target.host }
  } as ClientOptions)
  await new Promise((resolve, reject) => client.once("open", resolve).once("error", reject))
  for (let turn = 0; turn < 5; turn++) {
    const sent = randomBytes(1000)
    const back = new Promise<Buffer>((resolve, reject) => {
      client.once("message", (data) => resolve(data as Buffer))
      client.once("close", () => reject(new Error("the WebSocket closed")))
    })
    client.send(sent)
    if (!(await back).equals(sent)) throw new Error("a WebSocket got back something else")
  }
  client.close()
  await new Promise((resolve) => client.once("close", resolve))
}

const malformed = async (target: Target, roll: (below: number) => number) => {
  const nonsense = [
    randomBytes(500),
    Buffer.from([0x16, 3, 1, 0xff, 0xff]),
    Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0, 0]),
    Buffer.from("GET / HTTP/1.1\r\n\r\n")
  ]
  await new Promise<void>((resolve) => {
    const socket = connect(target.port, "127.0.0.1", () => socket.end(nonsense[roll(nonsense.length)] ?? ""))
    socket.setTimeout(12_000, () => socket.destroy())
    socket.on("data", () => {})
    socket.on("error", () => {})
    socket.on("close", () => resolve())
  })
}

const visit = async (kind: Kind, target: Target, roll: (below: number) => number): Promise<void> => {
  switch (kind) {
    case "short":
      if ((await ask(target, { path: "/short", headers: { connection: "close" } })).status !== 200)
        throw new Error("a short visitor was refused")
      return
    case "long":
      if ((await ask(target, { path: `/stream/${long}`, headers: { connection: "close" } })).body.length !== long)
        throw new Error("a long visitor got less than all")
      return
    case "aborted":
      return aborted(target)
    case "slow":
      return slow(target)
    case "websocket":
      return webSocket(target)
    case "malformed":
      return malformed(target, roll)
  }
}

/** Keeps so many visitors going until the signal; resolves when the last one has left. */
export const mixedVisitors = async (target: Target, atOnce: number, signal: AbortSignal, seed = 1): Promise<Seen> => {
  const none = () => ({ done: 0, failed: 0 })
  const seen: Seen = {
    short: none(),
    long: none(),
    aborted: none(),
    slow: none(),
    websocket: none(),
    malformed: none()
  }
  const worker = async (_: unknown, index: number) => {
    const roll = dice(seed * 7919 + index)
    // The first ones are of every kind, however few come.
    for (let [kind] = kinds[index % kinds.length]!; !signal.aborted; kind = pick(roll)) {
      await visit(kind, target, roll).then(
        () => seen[kind].done++,
        () => seen[kind].failed++
      )
      await sleep(roll(50))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return seen
}
