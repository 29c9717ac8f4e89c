/** The sequence of data-plane 17.2 and each of its negative cases, byte by byte, at every carrier of members. */
import { native } from "@catenet/crypto/native"
import * as Members from "@catenet/testing/edge/Members"
import { processOfMembers, program, type QuicPlace, untilTaken } from "@catenet/testing/edge/QuicMember"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"

const life = Effect.runSync(Scope.make())
let world: TestEdge
let quic: QuicPlace | undefined
beforeAll(async () => {
  const variables = {
    CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0",
    CT_EDGE_WS_CHANNEL_LISTEN: "127.0.0.1:0",
    CT_EDGE_QUIC: "auto"
  }
  world = await Effect.runPromise(start(variables).pipe(Scope.provide(life)))
  if (program === undefined) return
  const process = await Effect.runPromise(processOfMembers.pipe(Scope.provide(life)))
  quic = { process, port: world.bound.channelRelay?.port ?? 0 }
  await Effect.runPromise(untilTaken(quic, world.meshRoot))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

/** How the carrier takes a phase that is said first. */
type Marker = "read" | "ignored" | "refused"

/** Each comes from an address of its own: some of their words are guesses, which an address may make thirty times. */
const address = (last: number) => (process.platform === "linux" ? { from: `127.0.8.${last}` } : {})
const carriers: Readonly<Record<string, { readonly marker: Marker; readonly options: () => Members.JoinOptions }>> = {
  "the front door": { marker: "read", options: () => address(1) },
  "the front door in the plain dialect": { marker: "refused", options: () => ({ ...address(2), alpn: Members.plain }) },
  "the disguised front door": {
    marker: "read",
    options: () => ({ ...address(3), alpn: ["h2", "http/1.1"], serverName: "edge-cdn.invalid" })
  },
  "the port of the rendezvous": {
    marker: "ignored",
    options: () => ({ ...address(4), port: world.bound.channelBroker?.port ?? 0 })
  },
  "the port of the relay": {
    marker: "ignored",
    options: () => ({ ...address(5), port: world.bound.channelRelay?.port ?? 0 })
  },
  ...(program === undefined
    ? {}
    : { "the port of the relay by QUIC": { marker: "ignored", options: () => (quic === undefined ? {} : { quic }) } }),
  "a WebSocket": {
    marker: "refused",
    options: () => ({
      webSocket: { url: `ws://127.0.0.1:${world.bound.channelWebSocket?.port}/ws/channel`, ca: world.meshRoot }
    })
  }
}

const registered = (claims: Parameters<typeof Members.member>[1] = {}, channel = Members.channel()) => {
  const member = Members.member(channel, claims)
  Members.register(world, member)
  return member
}

const refusal = (token: string) => `NO${String.fromCharCode(token.length)}${token}`
const framed = (...parts: ReadonlyArray<Uint8Array>) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Members.u16(body.length), body])
}

for (const [name, { marker, options }] of Object.entries(carriers))
  describe.concurrent(`at ${name} a member`, () => {
    /** All that the edge says to these bytes. */
    const answered = async (bytes: Uint8Array) => {
      const peer = await Members.dial(world, options())
      peer.send(bytes)
      return (await peer.rest()).toString("latin1")
    }

    it("hears a challenge to a join in single bytes, and waits once it is signed in single bytes", async () => {
      const channel = Members.channel()
      const [a, b] = [registered({}, channel), registered({}, channel)]
      const one = await Members.dial(world, options())
      for (const byte of Members.joinFrame(a)) one.send(byte)
      for (const byte of Members.answer(a, await one.take(32))) one.send(byte)
      const two = await Members.join(world, b, options())
      for (const [peer, other] of [
        [one, b],
        [two, a]
      ] as const) {
        const line = await Members.acknowledged(peer)
        assert.strictEqual(line[3], Buffer.from(other.holder).toString("hex"))
        assert.isAtMost(line.join(" ").length, 511)
        peer.socket.destroy()
      }
    })

    it("is refused by the category of what is wrong, in the order of the checks", async () => {
      const member = registered()
      const stranger = Members.member(member.channel)
      const ended = registered({ expiresAt: 1_000n })
      const forged = Members.member({ ...Members.channel(), id: member.channel.id }, {}, member.seed)
      const grant = Buffer.from(member.grant)
      const wrong = Buffer.from(grant)
      wrong.writeUInt8(9, 128)
      const cases: ReadonlyArray<readonly [string, Uint8Array]> = [
        ["len-oob", Members.u16(0)],
        ["len-oob", Members.u16(1_025)],
        ["len-oob", Members.u16(0xfeff)],
        ["malformed", framed(grant.subarray(0, 138))],
        ["malformed", framed(grant)],
        ["malformed", framed(grant, Buffer.of(0xc0, 0x80))],
        ["malformed", framed(wrong, Members.ascii("10.0.0.1:1"))],
        ["malformed", framed(Buffer.alloc(1_024, 0xee))],
        ["endpoint", framed(grant, Members.ascii("10.0.0.1:1"))],
        ["endpoint", framed(grant, Members.ascii("[::ffff:127.0.0.1]:1"))],
        ["endpoint", framed(grant, Members.ascii("x".repeat(1_024 - 139)))],
        ["endpoint", Members.joinFrame(stranger, { endpoint: "169.254.1.1:1" })],
        ["not-member", Members.joinFrame(stranger)],
        ["grant-verify", Members.joinFrame(ended)],
        ["grant-verify", Members.joinFrame(forged)]
      ]
      for (const [token, bytes] of cases) assert.strictEqual(await answered(bytes), refusal(token), token)
      const peer = await Members.dial(world, options())
      peer.send(Members.joinFrame(member))
      peer.send(native.ed25519.sign(stranger.seed, await peer.take(32)))
      assert.strictEqual((await peer.rest()).toString("latin1"), refusal("possession"))
    })

    it(`that says a phase first finds it ${marker}`, async () => {
      const member = registered()
      for (const phase of [1, 2] as const) {
        const bytes = Members.joinFrame(member, { phase })
        const peer = await Members.dial(world, options())
        peer.send(bytes)
        if (marker === "refused") assert.strictEqual((await peer.rest()).toString("latin1"), refusal("len-oob"))
        else assert.strictEqual((await peer.take(32)).length, 32)
        peer.socket.destroy()
      }
      for (const phase of [0, 3, 0xff])
        assert.strictEqual(await answered(Buffer.of(0xff, phase)), marker === "refused" ? refusal("len-oob") : "")
    })
  })

describe("a member that ends within its join", () => {
  it("hears nothing, wherever that is", async () => {
    const member = registered()
    const frame = Members.joinFrame(member, { phase: 2 })
    const lengths = Array.from({ length: frame.length }, (_, length) => length)
    const signed = Array.from({ length: 64 }, (_, length) => length)
    const ends = async (length: number, ofSignature: number | undefined) => {
      const peer = await Members.dial(world, address(6))
      peer.send(frame.subarray(0, length))
      if (ofSignature !== undefined) peer.send(Members.answer(member, await peer.take(32)).subarray(0, ofSignature))
      peer.socket.end()
      assert.strictEqual((await peer.rest()).length, 0, `${length} and ${ofSignature} bytes`)
    }
    for (let at = 0; at < lengths.length; at += 16)
      await Promise.all(lengths.slice(at, at + 16).map((length) => ends(length, undefined)))
    for (let at = 0; at < signed.length; at += 16)
      await Promise.all(signed.slice(at, at + 16).map((length) => ends(frame.length, length)))
  })
})
