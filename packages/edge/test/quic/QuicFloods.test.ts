/**
 * What strangers send to the UDP ports: raw datagrams from sockets of their own. `npm run campaign QuicFloods` goes on for longer
 * (`CT_QUIC_FLOOD_MILLIS`). One file, since all cases send the first datagrams of the same handshakes.
 */
import { servingAgent } from "@catenet/testing/edge/Agent"
import { latencies, p99 } from "@catenet/testing/edge/floods/Latency"
import { processOfMembers, program } from "@catenet/testing/edge/QuicMember"
import { start, type TestEdge, token } from "@catenet/testing/edge/TestEdge"
import { eventually, until, untilSuccess } from "@catenet/testing/Eventually"
import type * as Quic from "@catenet/wire/quic/process/QuicProcess"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { randomBytes } from "node:crypto"
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { setImmediate } from "node:timers/promises"

const floodMillis = Number(process.env["CT_QUIC_FLOOD_MILLIS"] ?? 300)
/** Without a limit for strangers, visitors wait for as long as the flood lasts or fail. */
const floorMillis = 2_000
const attempts = 5
/** The runtime counts the last datagram of a burst too late, and its connection ids go in a datagram of their own (decision 0022). */
const smallPacket = 150
const unfinished = "a handshake that is never gone on with"

const udpAt = (address: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const socket = createSocket("udp4").on("error", () => undefined)
      socket.bind(0, address)
      await once(socket, "listening")
      return socket
    }),
    (socket) => Effect.sync(() => socket.close())
  )
const udp = udpAt("127.0.0.1")

const dial = (quic: Quic.QuicProcess, port: number, roots: string, address = "127.0.0.1") =>
  quic.dial({
    to: { address, port },
    serverName: "localhost",
    roots,
    transport: { keepAlive: 3_000, idle: 10_000, streams: 10 }
  })

/** Of a datagram with a long header; it says which connection it is of. */
const destinationOf = (bytes: Buffer) => bytes.subarray(6, 6 + bytes[5]!).toString("hex")

/** Long header, version 1. */
const isInitial = (bytes: Buffer) => (bytes[0]! & 0xf0) === 0xc0

/** By which the other side answers. */
const sourceOf = (bytes: Buffer) => destinationOf(bytes.subarray(1 + bytes[5]!))

/** First datagrams of real handshakes, each of a connection of its own, which go nowhere else. */
const initials = Effect.fn("initials")(function* (quic: Quic.QuicProcess, roots: string, count: number) {
  const socket = yield* udp
  const seen = new Map<string, Buffer>()
  socket.on("message", (bytes: Buffer) => {
    const id = destinationOf(bytes)
    if (isInitial(bytes) && !seen.has(id)) seen.set(id, Buffer.from(bytes))
  })
  const { port } = socket.address()
  for (let each = 1; each <= count; each++) {
    yield* Effect.forkScoped(Effect.ignore(dial(quic, port, roots)))
    // More at once would be lost at the receiver.
    if (each % 40 === 0 || each === count)
      yield* Effect.promise(() => eventually(() => seen.size >= each, "handshakes begin"))
  }
  return [...seen.values()].slice(0, count)
})

/** A long header of that version with ids that no one knows. */
const header = (version: number, length: number) => {
  const bytes = randomBytes(length)
  bytes[0] = 0xc3
  bytes.writeUInt32BE(version, 1)
  bytes[5] = 8
  bytes[14] = 8
  return bytes
}

/** Answers that came until none did for a while. */
const answered = async (socket: Socket, send: () => void, millis: number) => {
  let bytes = 0
  const count = (message: Buffer) => {
    bytes += message.length
  }
  socket.on("message", count)
  send()
  const until = performance.now() + millis
  await eventually(() => performance.now() > until, "some time passes")
  socket.off("message", count)
  return bytes
}

const quicChildren = (parent: number) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")
        return Number(rest.split(" ")[1]) === parent && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("deno")
      } catch {
        return false
      }
    })

const taken = (world: TestEdge, quic: Quic.QuicProcess) =>
  Effect.map(untilSuccess(dial(quic, world.mesh, world.meshRoot)), (connection) => connection.close())

describe.skipIf(program === undefined)("strangers at a UDP port", () => {
  it.live("get three times what they sent and one small packet at most, and nothing for what is no handshake", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on" })
      const quic = yield* processOfMembers
      yield* taken(world, quic)
      const [initial] = yield* initials(quic, world.meshRoot, 1)
      const cases: ReadonlyArray<readonly [string, Buffer, boolean]> = [
        [unfinished, initial!, true],
        ["an unknown version", header(0x1a2a3a4a, 1_200), true],
        ["an unknown version in a small datagram", header(0x1a2a3a4a, 200), false],
        ["a small handshake", initial!.subarray(0, 600), false],
        ["a handshake that cannot be read", header(1, 1_200), false],
        ["a short header of no connection", Buffer.concat([Buffer.of(0x40), randomBytes(20)]), false],
        ["one byte", Buffer.of(0xc0), false]
      ]
      const all = yield* Effect.forEach(
        cases,
        ([name, sent, isAnswered]) =>
          Effect.gen(function* () {
            const socket = yield* udp
            // Longer than the first repetitions of a server that hears nothing.
            const bytes = yield* Effect.promise(() =>
              answered(socket, () => socket.send(sent, world.mesh, "127.0.0.1"), 2_500)
            )
            return { name, sent: sent.length, bytes, isAnswered }
          }),
        { concurrency: "unbounded" }
      )
      process.stderr.write(`${all.map(({ bytes, name, sent }) => `${name}: ${sent} sent, ${bytes} back`).join("\n")}\n`)
      for (const { bytes, isAnswered, name, sent } of all) {
        assert.isAtMost(bytes, 3 * sent + (name === unfinished ? smallPacket : 0), name)
        if (isAnswered) assert.isAbove(bytes, 0, name)
      }
    }).pipe(Effect.scoped)
  )

  it.live(
    "do not keep the visitors of a tunnel waiting, nor agents out, whatever they send",
    () =>
      Effect.gen(function* () {
        const world = yield* start({ CT_EDGE_QUIC: "on", CT_EDGE_MAX_CONNECTIONS_PER_IP: "100000" })
        const quic = yield* processOfMembers
        yield* taken(world, quic)
        const host = "quiet.zone.test"
        const origin = createServer((_request, response) => response.end("x".repeat(128)))
        yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
        yield* servingAgent(world, token("1"), [host], (stream) => void origin.emit("connection", stream))
        const socket = yield* udp
        const halfOpen = yield* initials(quic, world.meshRoot, 40)
        const connection = yield* dial(quic, world.mesh, world.meshRoot)
        const kinds: Readonly<Record<string, () => void>> = {
          "handshakes that cannot be read": () => void socket.send(header(1, 1_200), world.mesh, "127.0.0.1"),
          "unknown versions": () => void socket.send(header(0x1a2a3a4a, 1_200), world.mesh, "127.0.0.1"),
          "handshakes that are never gone on with": () => {
            for (const bytes of halfOpen) socket.send(bytes, world.mesh, "127.0.0.1")
          },
          "streams that say nothing": () => void (connection.isClosed || Result.isSuccess(connection.open()))
        }
        const measure = async () =>
          p99(await latencies({ port: world.frontDoor, servername: host, ca: world.wildcardRoot }, floodMillis))
        const idle = yield* Effect.promise(measure)
        const bound = Math.max(3 * idle, floorMillis)
        for (const [name, send] of Object.entries(kinds)) {
          const seen: Array<number> = []
          while (seen.length < attempts && Math.min(...seen) > bound) {
            const over = new AbortController()
            let sent = 0
            const flooding = async () => {
              while (!over.signal.aborted) {
                for (let each = 0; each < 20; each++, sent++) send()
                await setImmediate()
              }
            }
            const flood = flooding()
            seen.push(yield* Effect.promise(measure))
            over.abort()
            yield* Effect.promise(() => flood)
            process.stderr.write(
              `${name}: ${sent} sent, p99 ${Math.round(seen.at(-1)!)} ms, idle ${Math.round(idle)} ms\n`
            )
          }
          assert.isAtMost(Math.min(...seen), bound, name)
        }
        // Agents come in as before.
        yield* taken(world, quic)
      }).pipe(Effect.scoped),
    300_000
  )

  it.live.each([1, 60])(
    "with 900 handshakes that are never gone on with, from %i addresses, keep nobody of another address out",
    (addresses) =>
      Effect.gen(function* () {
        const world = yield* start({ CT_EDGE_QUIC: "on", CT_EDGE_MAX_CONNECTIONS_PER_IP: "100000" })
        const quic = yield* processOfMembers
        yield* taken(world, quic)
        const begun = yield* Effect.scoped(initials(quic, world.meshRoot, 900))
        const sources = yield* Effect.forEach(Array.from({ length: addresses }), (_, n) => udpAt(`127.0.7.${n + 1}`))
        const halfOpen = new Set<string>()
        const heard = (bytes: Buffer) => void (isInitial(bytes) && halfOpen.add(destinationOf(bytes)))
        for (const socket of sources) socket.on("message", heard)
        const flood = Effect.forEach(
          begun,
          (bytes, n) => {
            if (halfOpen.has(sourceOf(bytes))) return Effect.void
            sources[n % addresses]!.send(bytes, world.mesh, "127.0.0.1")
            // A burst would be lost at the receiver.
            return n % 20 === 0 ? Effect.sleep("5 millis") : Effect.void
          },
          { discard: true }
        )
        yield* until(Effect.as(flood, halfOpen), ({ size }) => size >= 512, "200 millis")
        // Until they are late.
        yield* Effect.sleep("1 second")
        const newcomer = dial(quic, world.mesh, world.meshRoot).pipe(Effect.timeout("8 seconds"), Effect.option)
        const connections = yield* Effect.all(
          Array.from({ length: 17 }, () => newcomer),
          { concurrency: "unbounded" }
        )
        const replies = yield* Effect.forEach(
          connections,
          (one) => (Option.isNone(one) ? Effect.succeed(false) : Effect.promise(() => spoken(one.value))),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          replies,
          Array.from({ length: 17 }, () => true)
        )
      }).pipe(Effect.scoped),
    60_000
  )

  it.live("have their share of connections, of IPv6 too, and it is given back", () =>
    Effect.gen(function* () {
      const world = yield* start({
        CT_EDGE_QUIC: "on",
        CT_EDGE_LISTEN: "[::1]:0",
        CT_EDGE_MAX_CONNECTIONS_PER_IP: "3"
      })
      const quic = yield* processOfMembers
      const one = dial(quic, world.mesh, world.meshRoot, "::1")
      const first = yield* untilSuccess(one)
      assert.strictEqual(first.remote.address, "::1")
      const others = [yield* one, yield* one]
      const refused = yield* Effect.result(one)
      // The client may believe for a moment that it was taken.
      if (Result.isSuccess(refused))
        assert.strictEqual((yield* Effect.promise(() => refused.success.closed)).by, "remote")
      assert.isTrue(others.every(({ isClosed }) => !isClosed))
      first.close()
      const again = yield* untilSuccess(
        Effect.flatMap(one, (connection) =>
          Effect.promise(() => Promise.race([connection.closed.then(() => false), spoken(connection)])).pipe(
            Effect.flatMap((isTaken) => (isTaken ? Effect.succeed(connection) : Effect.fail("refused")))
          )
        )
      )
      again.close()
    }).pipe(Effect.scoped)
  )

  it.live("find the port again where its process was killed, and nothing else has ended", () =>
    Effect.gen(function* () {
      const world = yield* start({ CT_EDGE_QUIC: "on" })
      const [own] = quicChildren(process.pid)
      const host = "quiet.zone.test"
      yield* Effect.promise(() => world.authorize(token("1"), host, "gelb"))
      const origin = createServer((_request, response) => response.end("x".repeat(128)))
      yield* servingAgent(world, token("1"), [host], (stream) => void origin.emit("connection", stream))
      const quic = yield* processOfMembers
      const connection = yield* untilSuccess(dial(quic, world.mesh, world.meshRoot))
      const visits = latencies({ port: world.frontDoor, servername: host, ca: world.wildcardRoot }, 1_500)
      const killed = quicChildren(process.pid).find((pid) => pid !== quic.pid() && (own === undefined || pid === own))
      assert.isDefined(killed)
      const from = performance.now()
      process.kill(killed!, "SIGKILL")
      yield* untilSuccess(dial(quic, world.mesh, world.meshRoot))
      process.stderr.write(`the edge took QUIC again after ${Math.round(performance.now() - from)} ms\n`)
      // Visitors by TLS have noticed nothing: a request that fails rejects.
      assert.isAbove((yield* Effect.promise(() => visits)).length, 0)
      yield* Effect.promise(() => connection.closed)
    }).pipe(Effect.scoped)
  )
})

/** Whether the edge answers a role. */
const spoken = async (connection: Effect.Success<ReturnType<typeof dial>>) => {
  const stream = Result.getOrThrow(connection.open())
  stream.end("W")
  const [first] = (await once(stream.resume(), "data").catch(() => [])) as ReadonlyArray<Buffer>
  return first !== undefined
}
