/** Members of channels at the ports on UDP, byte by byte, as those of the reference kind speak (data-plane 7 and 8.1). */
import * as Members from "@catenet/testing/edge/Members"
import {
  allOf,
  connectMember,
  opened,
  processOfMembers,
  program,
  type QuicPlace,
  untilTaken
} from "@catenet/testing/edge/QuicMember"
import { eventually, start, temporaryFolder, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { onThisMachine } from "@catenet/testing/Promptness"
import type { QuicConnection } from "@catenet/wire/quic/QuicConnection"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Scope } from "effect"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { ranked } from "../../src/channels/ChannelPlacement.ts"

/** Epoch milliseconds, by which a grant ends. */
const now = () => Effect.runSync(Clock.currentTimeMillis)

const life = Effect.runSync(Scope.make())
const inLife = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(effect.pipe(Scope.provide(life)))

/** Two edges of one control plane. The first has two processes. */
let one: TestEdge
let two: TestEdge
let process: QuicPlace["process"]
let audit: string
const variables = {
  CT_EDGE_QUIC: "on",
  CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
  CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
  CT_EDGE_MESH_RELAY_ENABLED: "1",
  CT_EDGE_MESH_RELAY_PRIVATE: "1"
}
beforeAll(async () => {
  if (program === undefined) return
  const folder = await inLife(temporaryFolder)
  audit = join(folder, "audit.sqlite")
  const own = { CT_EDGE_ID: "one", CT_EDGE_PROCESSES: "2", CT_EDGE_AUDIT_LOG_PATH: audit }
  one = await inLife(start({ ...variables, ...own }, { folder }))
  const { controlPlane } = one
  const other = await inLife(temporaryFolder)
  for (const file of ["edge-ca-key.pem", "edge-ca-cert.der"]) copyFileSync(join(folder, file), join(other, file))
  two = await inLife(start({ ...variables, CT_EDGE_ID: "two" }, { controlPlane, folder: other }))
  for (const [edge_id, { mesh }] of [
    ["one", one],
    ["two", two]
  ] as const)
    controlPlane.edges.push({ edge_id, peer_addr: `127.0.0.1:${mesh}`, live: true })
  process = await inLife(processOfMembers)
  for (const world of [one, two]) await Effect.runPromise(untilTaken(relayOf(world), one.meshRoot))
  for (const world of [one, two])
    await eventually(async () => (await world.metrics())["ct_edge_channel_peers"] === 1, "edges know each other")
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

const relayOf = ({ bound }: TestEdge): QuicPlace => ({ process, port: bound.channelRelay?.port ?? 0 })
const brokerOf = ({ bound }: TestEdge): QuicPlace => ({ process, port: bound.channelBroker?.port ?? 0 })

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** A channel whose home is that edge. */
const channelAt = (home: string) => {
  for (;;) {
    const channel = Members.channel()
    if (ranked(hex(channel.id), ["one", "two"])[0] === home) return channel
  }
}

const pair = (channel = channelAt("one"), claims: Parameters<typeof Members.member>[1] = {}) => {
  const members = [
    Members.member(channel, { ...claims, direction: "initiate" }),
    Members.member(channel, { direction: "accept" })
  ] as const
  Members.register(one, ...members)
  return members
}

const connect = (place: QuicPlace) => Effect.runPromise(connectMember(place, one.meshRoot))

/** The join as the reference says it, up to the end of the member's side. What the edge says is all that comes. */
const join_ = async (place: QuicPlace, member: Members.TestMember) => {
  const connection = await connect(place)
  const stream = opened(connection)
  stream.write(Members.joinFrame(member, { phase: 1 }))
  const said = new Members.Peer(stream)
  stream.end(Members.answer(member, await said.take(32)))
  return { connection, line: said.rest().then((word) => word.toString("latin1")) }
}

const theirs = (connection: QuicConnection) =>
  new Promise<ReturnType<typeof opened>>((resolve) => connection.take(resolve))

/** Two that met, with a stream of their session at both ends. */
const talking = async (a: Members.TestMember, b: Members.TestMember, at = [relayOf(one), relayOf(one)] as const) => {
  const first = await join_(at[0], a)
  const second = await join_(at[1], b)
  const [toA, toB] = await Promise.all([first.line, second.line])
  assert.match(toA, / rs=initiate /u)
  assert.match(toB, / rs=accept .*ln=peer$/u, "the line ends with the stream")
  const begins = opened(first.connection)
  begins.write("noise")
  const answers = await theirs(second.connection)
  const heard = new Members.Peer(answers)
  answers.resume()
  assert.strictEqual((await heard.take(5)).toString(), "noise")
  return { first: first.connection, second: second.connection, begins, answers, heard }
}

describe.skipIf(program === undefined)("members by QUIC", () => {
  it("that meet at the broker hear of each other, and the edge waits for them to leave", async () => {
    const [a, b] = pair()
    const [first, second] = [await join_(brokerOf(one), a), await join_(brokerOf(one), b)]
    const lines = await Promise.all([first.line, second.line])
    for (const line of lines)
      assert.match(line, /^OK relay-only [0-9a-f ]{258} r=127\.0\.0\.1:\d+ sp=1 rs=\w+ pr=rw pe=\d+ ln=close$/u)
    assert.isFalse(first.connection.isClosed || second.connection.isClosed)
    for (const { connection } of [first, second]) connection.close()
  })

  it("that meet at the relay talk on streams of their own, in both directions and to the end of each", async () => {
    const { answers, begins, first, heard, second } = await talking(...pair())
    const bulk = Buffer.alloc(3_000_000, 0x5a)
    begins.end(bulk)
    const back = allOf(begins.resume())
    assert.strictEqual((await heard.rest()).length, bulk.length)
    answers.end("the answer is later than the end of the question")
    assert.strictEqual((await back).toString(), "the answer is later than the end of the question")
    for (const connection of [first, second]) connection.close()
  })

  it("meet those who came to another process, or to another edge, by another carrier", async () => {
    const meet = async (home: string, from: Members.JoinOptions, at: TestEdge, to: Members.JoinOptions) => {
      const [a, b] = pair(channelAt(home))
      const [x, y] = [await Members.join(one, a, from), await Members.join(at, b, to)]
      await Promise.all([Members.acknowledged(x), Members.acknowledged(y)])
      x.send(Members.ascii("ping"))
      assert.strictEqual((await y.take(4)).toString(), "ping")
      y.send(Members.ascii("pong"))
      assert.strictEqual((await x.take(4)).toString(), "pong")
      x.socket.destroy()
      await y.rest()
      y.socket.destroy()
    }
    const [here, there] = [{ quic: relayOf(one) }, { quic: relayOf(two) }]
    // The kernel gives TLS to either process.
    await Promise.all(Array.from({ length: 8 }, () => meet("one", here, one, { alpn: Members.plain })))
    for (const home of ["one", "two"]) {
      await meet(home, here, two, there)
      await meet(home, here, two, {})
      await meet(home, {}, two, there)
    }
  })

  it("are sent away with the reason of an ended park, and refused with the category of what is wrong", async () => {
    const [a, b] = pair()
    const parks = []
    for (let each = 0; each < 5; each++) parks.push(await join_(relayOf(one), a))
    const closed = await parks[0]!.connection.closed
    assert.deepInclude(closed, { by: "remote", code: 0 })
    assert.match(closed.reason, /^park-expired:/u)
    // Both may only begin.
    const same = Members.member(a.channel, { direction: "initiate" })
    Members.register(one, same)
    assert.strictEqual(await (await join_(relayOf(one), same)).line, "NO\u0007pairing")
    for (const { connection } of parks) connection.close()
    Members.remove(one, b)
    const stranger = await connect(relayOf(one))
    const stream = opened(stranger)
    stream.write(Members.joinFrame(b))
    assert.strictEqual(await text(stream.resume()), "NO\u000anot-member")
  })

  it("are cut within a second when one may no longer talk, and when a grant ends", async () => {
    const ends = BigInt(Math.ceil(now() / 1_000) + 2)
    const brief = await talking(...pair(channelAt("two"), { expiresAt: ends }))
    for (const home of ["one", "two"]) {
      const [a, b] = pair(channelAt(home))
      const both = await talking(a, b, [relayOf(one), relayOf(two)])
      const from = performance.now()
      for (const world of [one, two]) {
        const body = { channel: hex(a.channel.id), holder: hex(a.holder) }
        assert.strictEqual((await world.admin("POST", "/internal/channel/cut", { body })).status, 200)
      }
      await Promise.all([both.first.closed, both.second.closed])
      assert.isBelow(performance.now() - from, onThisMachine(1_000))
    }
    await Promise.all([brief.first.closed, brief.second.closed])
    const late = now() / 1_000 - Number(ends)
    assert.isTrue(late >= 0 && late < 5, `${late} s after the end`)
  })

  it("end alone when one breaks, opens no stream, or opens too many", async () => {
    const silent = await connect(relayOf(one))
    const from = performance.now()
    const both = await talking(...pair())
    // More streams than a session has.
    const second = opened(both.first)
    second.write("x")
    assert.strictEqual(await text(second.resume()), "", "it is refused")
    assert.isFalse(both.first.isClosed)
    both.first.close(7, "gone")
    assert.strictEqual((await both.second.closed).by, "remote", "what is torn does not look complete")
    // One that begins and never does.
    const [a, b] = pair()
    const [first, other] = [await join_(relayOf(one), a), await join_(relayOf(one), b)]
    await Promise.all([first.line, other.line])
    await Promise.all([first.connection.closed, other.connection.closed, silent.closed])
    assert.isBelow(performance.now() - from, onThisMachine(9_000))
  })

  it("are audited and counted, and refused before their handshake is done once they have guessed too often", async () => {
    const stranger = Members.member(Members.channel())
    const guess = async () => {
      const connection = await connect(relayOf(two))
      const stream = opened(connection)
      stream.end(Members.joinFrame(stranger))
      const said = await text(stream.resume())
      connection.close()
      return said
    }
    for (let each = 0; each < 30; each++) {
      const said = await guess()
      assert.strictEqual(said, "NO\u000anot-member")
    }
    assert.strictEqual(await guess().catch(() => "refused"), "refused")
    assert.isAbove((await two.metrics())["ct_edge_channel_join_penalty_sheds_total"] ?? 0, 0)
    await eventually(() => {
      const db = new DatabaseSync(audit, { readOnly: true })
      const rows = db.prepare("select source_ip, channel_id from connections where transport = 'quic_channel'").all()
      db.close()
      return rows.length > 10 && rows.every((row) => row["source_ip"] === "127.0.0.1" && row["channel_id"] !== "")
    }, "the rows are written")
  })
})
