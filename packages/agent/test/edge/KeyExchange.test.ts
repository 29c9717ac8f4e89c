/**
 * The key exchange of two agents, at an edge that passes their offers on and behind somebody who removes or changes what they
 * say.
 *
 * One file, since one edge serves all of them.
 */
import * as Hex from "@catenet/crypto/Hex"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeChannel } from "@catenet/testing/agent/Member"
import { start, type TestEdge } from "@catenet/testing/edge/TestEdge"
import { register } from "@catenet/testing/stack/channels/Registered"
import { certificate, privateKey as key } from "@catenet/testing/wire/quic/certificate"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { Transform } from "node:stream"
import { connect, createServer, type Server } from "node:tls"

const life = Effect.runSync(Scope.make())
let world: TestEdge
beforeAll(async () => {
  const variables = { CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:0", CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:0" }
  world = await Effect.runPromise(Effect.provideService(start(variables), Scope.Scope, life))
})
afterAll(() => Effect.runPromise(Scope.close(life, Exit.void)))

/** What somebody who has the edge's place does to the text of a join and of an acknowledgement. */
interface Tampering {
  /** The offer of a member with this holder key, in hex, as the edge reads it; undefined removes it. */
  readonly offer: (offer: string, holder: string) => string | undefined
  /** Whether the peer's offer is taken out of this member's acknowledgement. */
  readonly silences?: (holder: string) => boolean
  /** A join with an offer is refused as an edge that is too old to know it refuses it. */
  readonly isOld?: boolean
  /** What becomes of a message of the Noise handshake or of the session; `index` counts those of this member. */
  readonly message?: (message: Buffer, holder: string, index: number) => Buffer
}

const grantBytes = 139

/** Changes what a member sends behind its join: a signature of 64 bytes, then messages behind their lengths. */
const changing = (change: (message: Buffer, index: number) => Buffer) => {
  let [held, isProved, index] = [Buffer.alloc(0), false, 0]
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      held = Buffer.concat([held, chunk])
      const out: Array<Buffer> = []
      if (!isProved) {
        if (held.length < 64) return done()
        out.push(held.subarray(0, 64))
        ;[held, isProved] = [held.subarray(64), true]
      }
      while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
        const end = 2 + held.readUInt16BE(0)
        const message = change(Buffer.from(held.subarray(2, end)), index++)
        out.push(Buffer.from([message.length >> 8, message.length & 255]), message)
        held = held.subarray(end)
      }
      done(null, Buffer.concat(out))
    }
  })
}

/** An endpoint of TLS in front of a port of the edge. Members without the edge's root do not notice it. */
const inFrontOf = async (port: number, { isOld = false, message, offer, silences = () => false }: Tampering) => {
  const ALPNProtocols = ["ct-edge-channel-ka", "ct-edge-channel"]
  const server: Server = createServer({ cert: certificate, key, ALPNProtocols, allowHalfOpen: true }, (member) => {
    const halves = { allowHalfOpen: true }
    const edge = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols, ...halves })
    for (const socket of [member, edge]) socket.on("error", () => undefined)
    member.on("close", () => edge.destroy())
    edge.on("close", () => member.end())
    let holder = ""
    const silencing = new Transform({
      transform: (chunk: Buffer, _, done) => {
        const text = chunk.toString("latin1")
        done(null, silences(holder) ? Buffer.from(text.replace(/ kx=[a-z0-9,]+/, ""), "latin1") : chunk)
      }
    })
    edge.pipe(silencing).pipe(member)
    let held = Buffer.alloc(0)
    const opening = (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      const start = held[0] === 0xff ? 2 : 0
      if (held.length < start + 2 || held.length < start + 2 + held.readUInt16BE(start)) return
      const body = held.subarray(start + 2, start + 2 + held.readUInt16BE(start))
      const [endpoint = "", said] = body.subarray(grantBytes).toString().split(" kx=")
      if (isOld && said !== undefined) return void member.end(Buffer.from("NO\u0008endpoint"))
      holder = body.subarray(96, 128).toString("hex")
      const passed = said === undefined ? undefined : offer(said, holder)
      const text = passed === undefined ? endpoint : `${endpoint} kx=${passed}`
      const length = Buffer.alloc(2)
      length.writeUInt16BE(grantBytes + text.length)
      edge.write(Buffer.concat([held.subarray(0, start), length, body.subarray(0, grantBytes), Buffer.from(text)]))
      member.off("data", opening)
      member.pipe(changing((each, index) => message?.(each, holder, index) ?? each)).pipe(edge)
    }
    member.on("data", opening)
  })
  server.on("tlsClientError", () => undefined).listen(0, "127.0.0.1")
  await once(server, "listening")
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}

/** Where both members join: the edge itself, or somebody in front of it. */
const places = async (tampering?: Tampering) => {
  const [broker, relay] = [world.bound.channelBroker?.port ?? 0, world.bound.channelRelay?.port ?? 0]
  const fronts = tampering && (await Promise.all([broker, relay].map((port) => inFrontOf(port, tampering))))
  return {
    env: {
      CT_CHANNEL_TRANSPORTS: "tls",
      CT_CHANNEL_RELAY_ONLY: "1",
      CT_CHANNEL_BROKER: fronts?.[0]?.address ?? `127.0.0.1:${broker}`,
      CT_CHANNEL_RELAY: fronts?.[1]?.address ?? `127.0.0.1:${relay}`
    },
    [Symbol.dispose]: () => fronts?.forEach(({ close }) => close())
  }
}

const variable = "CT_CHANNEL_POST_QUANTUM"

type Tamper = (initiator: string, acceptor: string) => Tampering

/** Both members pipe a text to each other once. Their exit codes, and the lines of both. */
const talk = async ([one, two]: readonly [string, string], tampering?: Tamper) => {
  const channel = makeChannel()
  const [a, b] = [channel.member("initiate"), channel.member("accept")]
  register(world, channel, a, b)
  await using home = await makeHome()
  using at = await places(tampering?.(Hex.encode(a.holder), Hex.encode(b.holder)))
  await using left = runAgent(home, { ...a.env, ...at.env, [variable]: one }, ["channel"], "from a")
  await using right = runAgent(home, { ...b.env, ...at.env, [variable]: two }, ["channel"], "from b")
  const codes = await Promise.all([left.exited, right.exited])
  return { codes, lines: [left.lines.join("\n"), right.lines.join("\n")], heard: [left.stdout(), right.stdout()] }
}

describe("two agents at an edge that passes their offers on", () => {
  it.each([
    ["prefer", "prefer", "x25519mlkem768"],
    ["require", "prefer", "x25519mlkem768"],
    ["prefer", "off", "x25519"],
    ["off", "off", "x25519"]
  ])("%s and %s: agree their keys by %s, and each prints it", async (one, two, name) => {
    const { codes, heard, lines } = await talk([one, two])
    assert.deepStrictEqual(codes, [0, 0], lines.join("\n"))
    assert.deepStrictEqual(heard, ["from b", "from a"])
    for (const line of lines) assert.include(line, `keys by ${name}`)
  })

  it("require and off: the one that requires it ends with the reason", async () => {
    const channel = makeChannel()
    const [a, b] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, a, b)
    await using home = await makeHome()
    using at = await places()
    const off = { ...b.env, ...at.env, [variable]: "off", CT_CHANNEL_SERVE: "1" }
    await using right = runAgent(home, off, ["channel"])
    await using left = runAgent(home, { ...a.env, ...at.env, [variable]: "require" }, ["channel"], "x")
    assert.strictEqual(await left.exited, 4, [...left.lines, ...right.lines].join("\n"))
    assert.include(left.lines.join("\n"), "CT_CHANNEL_POST_QUANTUM is require", right.lines.join("\n"))
  })
})

const dropping: Tamper = () => ({ offer: () => undefined })
const old: Tamper = () => ({ offer: (offer) => offer, isOld: true })

describe("two agents at an edge that carries no offers", () => {
  const ways = { "refuses them": old, "removes them": dropping }
  it.each([
    ["prefer", "prefer", "x25519mlkem768", "refuses them"],
    ["prefer", "prefer", "x25519mlkem768", "removes them"],
    ["require", "prefer", "x25519mlkem768", "refuses them"],
    ["prefer", "require", "x25519mlkem768", "refuses them"],
    ["prefer", "off", "x25519", "refuses them"],
    ["off", "prefer", "x25519", "refuses them"]
  ] as const)("%s and %s: agree their keys by %s in the handshake, where it %s", async (one, two, name, way) => {
    const { codes, heard, lines } = await talk([one, two], ways[way])
    assert.deepStrictEqual(codes, [0, 0], lines.join("\n"))
    assert.deepStrictEqual(heard, ["from b", "from a"])
    for (const line of lines) assert.include(line, `keys by ${name}`)
  })

  it.each([
    ["require", "off"],
    ["off", "require"]
  ])("%s and %s: no byte passes, and the one that requires it ends with the reason", async (one, two) => {
    const { codes, heard, lines } = await talk([one, two], old)
    const side = one === "require" ? 0 : 1
    assert.strictEqual(codes[side], 4, lines.join("\n"))
    assert.deepStrictEqual(heard, ["", ""])
    assert.include(lines[side], "the peer uses no post-quantum key exchange. It is required here")
  })
})

describe("two agents at an edge that carries offers and removes or changes one", () => {
  const changed = /somebody on the way has changed or removed the key exchanges/
  const cases: ReadonlyArray<readonly [string, Tamper, RegExp]> = [
    [
      "removes the initiator's offer",
      (initiator) => ({ offer: (offer, holder) => (holder === initiator ? undefined : offer) }),
      /but the edge removed an offer/
    ],
    [
      "removes the acceptor's offer",
      (_, acceptor) => ({ offer: (offer, holder) => (holder === acceptor ? undefined : offer) }),
      new RegExp(`but the edge removed an offer|${changed.source}`)
    ],
    [
      "hides the acceptor's offer from the initiator",
      (initiator) => ({ offer: (offer) => offer, silences: (holder) => holder === initiator }),
      changed
    ],
    [
      "hides the initiator's offer from the acceptor",
      (_, acceptor) => ({ offer: (offer) => offer, silences: (holder) => holder === acceptor }),
      changed
    ],
    ["offers x25519 alone for both", () => ({ offer: () => "x25519" }), changed],
    [
      "adds a name to one offer",
      (initiator) => ({ offer: (offer, holder) => (holder === initiator ? `${offer},later` : offer) }),
      changed
    ]
  ]
  it.each(cases)("%s: both end with a sentence, and no byte has passed", async (_, tampering, sentence) => {
    const { codes, heard, lines } = await talk(["prefer", "prefer"], tampering)
    assert.notInclude(codes, 0, lines.join("\n"))
    assert.deepStrictEqual(heard, ["", ""])
    for (const line of lines) {
      assert.match(line, sentence)
      assert.include(line, "CT_CHANNEL_POST_QUANTUM")
    }
  })
})

const flip = (message: Buffer, at: number) => {
  message[at] = (message[at] ?? 0) ^ 1
  return message
}

describe("two agents with somebody between them who changes the handshake", () => {
  type Change = (message: Buffer, isInitiator: boolean, index: number) => Buffer
  const first: (change: (message: Buffer) => Buffer) => Change = (change) => (message, isInitiator, index) =>
    isInitiator && index === 0 ? change(message) : message
  const answer: typeof first = (change) => (message, isInitiator, index) =>
    !isInitiator && index === 0 ? change(message) : message
  const third: typeof first = (change) => (message, isInitiator, index) =>
    isInitiator && index === 1 ? change(message) : message

  const ways = { offered: false, marked: true }
  const forged = /the ciphertext is not authentic|for none of this origin's keys/
  it.each<readonly [way: keyof typeof ways, what: string, Change, RegExp]>([
    ["offered", "cuts the KEM ciphertext off", answer((it) => it.subarray(0, 48)), /48 bytes are fewer than the 1152/],
    ["offered", "cuts the answer by a byte", answer((it) => it.subarray(0, -1)), /1151 bytes are fewer than the 1152/],
    ["offered", "turns a bit of the KEM ciphertext", answer((it) => flip(it, 600)), forged],
    ["offered", "puts a point of small order beside it", answer((it) => it.fill(0, 0, 32)), /has small order/],
    ["offered", "turns a bit of the encapsulation key", first((it) => flip(it, 600)), forged],
    [
      "offered",
      "cuts the encapsulation key off",
      first((it) => Buffer.concat([it.subarray(0, 32), it.subarray(-64)])),
      forged
    ],
    ["marked", "clears the initiator's mark", first((it) => it.fill((it[31] ?? 0) & 0x7f, 31, 32)), forged],
    ["marked", "clears the acceptor's mark", answer((it) => it.fill((it[31] ?? 0) & 0x7f, 31, 32)), forged],
    [
      "marked",
      "cuts the encapsulation key off",
      answer((it) => it.subarray(0, 48)),
      /48 bytes are fewer than the 1248/
    ],
    ["marked", "cuts the third message", third((it) => it.subarray(0, 100)), /100 bytes are fewer than the 1120/],
    ["marked", "turns a bit of the third message", third((it) => flip(it, 600)), forged]
  ])("%s, %s: the reader ends with the reason, and no byte has passed", async (way, _, change, sentence) => {
    const { codes, heard, lines } = await talk(["prefer", "prefer"], (initiator) => ({
      offer: (offer) => offer,
      isOld: ways[way],
      message: (message, holder, index) => change(message, holder === initiator, index)
    }))
    const reader = lines.findIndex((line) => sentence.test(line))
    assert.include([4, 5], codes[reader], lines.join("\n"))
    assert.deepStrictEqual(heard, ["", ""])
  })

  it.each(["beginning", "answer"])("replays the %s of an earlier session of theirs: no byte passes", async (part) => {
    const channel = makeChannel()
    const [a, b] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, a, b)
    await using home = await makeHome()
    const replayed = part === "beginning" ? Hex.encode(a.holder) : Hex.encode(b.holder)
    let earlier: Buffer | undefined
    using at = await places({
      offer: (offer) => offer,
      message: (message, holder, index) => {
        if (holder !== replayed || index > 0) return message
        earlier ??= message
        return earlier
      }
    })
    const meet = async () => {
      await using left = runAgent(home, { ...a.env, ...at.env }, ["channel"], "from a")
      await using right = runAgent(home, { ...b.env, ...at.env }, ["channel"], "from b")
      const codes = await Promise.all([left.exited, right.exited])
      return { codes, heard: [left.stdout(), right.stdout()], lines: [...left.lines, ...right.lines].join("\n") }
    }
    const before = await meet()
    assert.deepStrictEqual(before.codes, [0, 0], before.lines)
    const replay = await meet()
    assert.notStrictEqual(replay.codes[0], 0, replay.lines)
    assert.deepStrictEqual(replay.heard, ["", ""])
    assert.match(replay.lines, forged)
  })
})

describe("an edge that has carried offers", () => {
  it("is refused by both members when it says nothing of them, until the owner allows it", async () => {
    const channel = makeChannel()
    const [a, b] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, a, b)
    await using home = await makeHome()
    const tampering = { offer: (offer: string): string | undefined => offer }
    using at = await places({ offer: (offer) => tampering.offer(offer) })
    const own = (member: typeof a, folder: string) => ({
      ...member.env,
      ...at.env,
      CT_AGENT_STATE_DIR: `${home.path}/${folder}`
    })
    const sides = [own(a, "a"), own(b, "b")] as const
    const meet = async () => {
      await using left = runAgent(home, sides[0], ["channel"], "from a")
      await using right = runAgent(home, sides[1], ["channel"], "from b")
      const codes = await Promise.all([left.exited, right.exited])
      return { codes, lines: [left.lines.join("\n"), right.lines.join("\n")] }
    }
    const before = await meet()
    assert.deepStrictEqual(before.codes, [0, 0], before.lines.join("\n"))
    tampering.offer = () => undefined
    const refused = await meet()
    assert.deepStrictEqual(refused.codes, [4, 4], refused.lines.join("\n"))
    for (const [line, side] of [
      [refused.lines[0] ?? "", sides[0]],
      [refused.lines[1] ?? "", sides[1]]
    ] as const) {
      assert.include(line, "has carried offers of post-quantum key exchange before and says nothing of them now")
      const command = /ct-agent channel forget-peer (\S+)/.exec(line)?.[1] ?? ""
      await using forgetting = runAgent(home, side, ["channel", "forget-peer", command])
      assert.strictEqual(await forgetting.exited, 0)
      assert.include(forgetting.stdout(), "may be met without post-quantum key exchange")
    }
    const after = await meet()
    assert.deepStrictEqual(after.codes, [0, 0], after.lines.join("\n"))
    for (const line of after.lines) assert.include(line, "keys by x25519mlkem768")
  })
})

describe("a peer that has used a hybrid exchange", () => {
  it("is refused without it until the owner says so, by the command that the refusal names", async () => {
    const channel = makeChannel()
    const [a, b] = [channel.member("initiate"), channel.member("accept")]
    register(world, channel, a, b)
    await using home = await makeHome()
    using at = await places()
    const own = { ...a.env, ...at.env, CT_AGENT_STATE_DIR: `${home.path}/state` }
    const meet = async (theirs: string) => {
      await using left = runAgent(home, own, ["channel"], "from a")
      await using right = runAgent(home, { ...b.env, ...at.env, [variable]: theirs }, ["channel"], "from b")
      const code = await left.exited
      return { code, said: [...left.lines, ...right.lines].join("\n") }
    }
    assert.strictEqual((await meet("prefer")).code, 0)
    const refused = await meet("off")
    assert.strictEqual(refused.code, 4, refused.said)
    const holder = Hex.encode(b.holder)
    assert.include(refused.said, `CT_AGENT_STATE_DIR=${home.path}/state ct-agent channel forget-peer ${holder}`)
    await using wrong = runAgent(home, own, ["channel", "forget-peer", "b0b"])
    assert.strictEqual(await wrong.exited, 2)
    for (const answer of ["may be met without post-quantum key exchange", "Nothing was changed"]) {
      await using forgetting = runAgent(home, own, ["channel", "forget-peer", holder])
      assert.strictEqual(await forgetting.exited, 0)
      assert.include(forgetting.stdout(), answer)
    }
    const allowed = await meet("off")
    assert.strictEqual(allowed.code, 0, allowed.said)
  })
})
