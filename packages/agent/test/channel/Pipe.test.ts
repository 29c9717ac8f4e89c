/** Two real members of a channel through a scripted edge: their bytes reach each other, and nothing between reads them. */
import type { Direction } from "@catenet/crypto/Permission"
import { makeHome, runAgent } from "@catenet/testing/agent/Agent"
import { makeAuthority } from "@catenet/testing/agent/Authority"
import { startBroker, throughFrontDoor } from "@catenet/testing/agent/Broker"
import { makeChannel } from "@catenet/testing/agent/Member"
import { eventually } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"

const authority = makeAuthority()
const makePair = (direction: Direction = "initiate") => {
  const channel = makeChannel()
  const [initiator, acceptor] = [channel.member(direction), channel.member("accept")]
  return { channel, initiator, acceptor, script: { authority, channel, members: [initiator, acceptor] } }
}

describe("a channel without a local side", () => {
  it("joins stdin and stdout of both members, through rendezvous and relay", async () => {
    const { acceptor, initiator, script } = makePair("both")
    await using broker = await startBroker(script)
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "from the acceptor")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "from the initiator")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.strictEqual(one.stdout(), "from the initiator")
    assert.strictEqual(two.stdout(), "from the acceptor")
    assert.deepStrictEqual(
      broker.joins.map(({ phase }) => phase),
      [1, 1, 2, 2]
    )
    assert.deepStrictEqual([...new Set(broker.joins.map(({ endpoint }) => endpoint))], ["relay-only"])
  })

  it("needs one connection of each when the one that speaks first can only be relayed", async () => {
    const { acceptor, initiator, script } = makePair()
    await using broker = await startBroker(script)
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["b", "a"])
    assert.sameMembers(
      broker.joins.map(({ phase }) => phase),
      [1, undefined]
    )
  })

  it("goes on after a park that expired, on the same rung and at once", async () => {
    const { acceptor, initiator, script } = makePair()
    await using broker = await startBroker({
      ...script,
      answer: (_, count) => (count === 1 ? Buffer.from("EX") : undefined)
    })
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
  })

  it("takes no byte of the application from a peer that proves another key than the attested one", async () => {
    const { acceptor, channel, initiator, script } = makePair()
    const impostor = { ...initiator.env, CT_CHANNEL_NOISE_KEY: "11".repeat(32) }
    await using broker = await startBroker({ ...script, channel })
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "secret of the acceptor")
    await using two = runAgent(
      home,
      throughFrontDoor(broker, script, { ...initiator, env: impostor }),
      ["channel"],
      "x"
    )
    assert.strictEqual(await one.exited, 4)
    assert.include(one.lines.join("\n"), "another key than the attested one")
    assert.strictEqual(await two.exited, 5)
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["", ""])
  })

  it("refuses a peer whose attestation does not verify, and one without a key", async () => {
    const { initiator, acceptor, script } = makePair()
    const lines = [
      (line: string) => line.replace(/[0-9a-f]{128}/, "0".repeat(128)),
      () => "OK relay-only r=192.0.2.1:5 sp=0\n"
    ]
    for (const line of lines) {
      await using broker = await startBroker({ ...script, line })
      await using home = await makeHome()
      await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"])
      await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"])
      assert.deepStrictEqual([await one.exited, await two.exited], [4, 4])
      assert.include(one.lines.join("\n"), "The peer is not accepted")
    }
  })

  it("climbs from the broker's own port to the front door and to its second name, and says what each rung said", async () => {
    const { initiator, script } = makePair()
    await using broker = await startBroker({ ...script, members: [] })
    await using home = await makeHome()
    const env = { ...throughFrontDoor(broker, script, initiator), CT_CHANNEL_FRONT_DOOR_ONLY: "0" }
    await using agent = runAgent(home, env, ["channel"])
    assert.strictEqual(await agent.exited, 4)
    const said = agent.lines.at(-1) ?? ""
    assert.include(said, "(not-member)")
    assert.include(said, "add or to keep the member")
    assert.match(said, /broker 127\.0\.0\.1:1: .*; front-door .*not-member; camouflage .*not-member/)
    assert.deepStrictEqual(
      broker.joins.map(({ alpn, phase, serverName }) => [alpn, serverName, phase]),
      [
        ["ct-edge-channel-ka", "localhost", undefined],
        ["http/1.1", "edge-cdn.invalid", undefined]
      ]
    )
  })

  it("trusts the configured root alone", async () => {
    const { initiator, script } = makePair()
    await using broker = await startBroker(script)
    await using home = await makeHome()
    const other = { authority: makeAuthority("another root") }
    await using agent = runAgent(home, throughFrontDoor(broker, other, initiator), ["channel"])
    assert.strictEqual(await agent.exited, 5)
    assert.include(agent.lines.at(-1), "Set CT_CHANNEL_FRONT_DOOR_CERT to the edge's root")
    assert.deepStrictEqual(broker.joins, [])
  })

  it("goes on with the leg of the rendezvous when its peer is in no phase", async () => {
    const { acceptor, initiator, script } = makePair()
    await using broker = await startBroker({ ...script, alpn: ["ct-edge-channel"] })
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0])
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["b", "a"])
    assert.deepStrictEqual(
      broker.joins.map(({ phase }) => phase),
      [undefined, undefined]
    )
  })

  it("meets its peer at the relay when the edge closes the legs of the rendezvous late and does not say so", async () => {
    const { acceptor, initiator, script } = makePair("both")
    await using broker = await startBroker({ ...script, closesLate: true })
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.deepStrictEqual([one.stdout(), two.stdout()], ["b", "a"])
    assert.deepStrictEqual(
      broker.joins.map(({ phase }) => phase),
      [1, 1, 2, 2]
    )
  })

  it("takes a peer that is killed, and a session that ends between two frames, for no end", async () => {
    const { acceptor, initiator, script } = makePair()
    for (const how of ["killed", "cut"] as const) {
      await using broker = await startBroker(script)
      await using home = await makeHome()
      await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
      await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], null)
      two.type("b")
      await eventually(() => one.stdout() === "b", "the first bytes have come")
      if (how === "killed") two.kill("SIGKILL")
      else broker.endSessions()
      assert.strictEqual(await one.exited, 5, `${how}: ${one.lines.join("\n")}`)
      assert.include(one.lines.join("\n"), "the peer went away before it had ended")
    }
  })

  it("ends with exit code 5 and a sentence when the session is cut or changed on its way", async () => {
    const { acceptor, initiator, script } = makePair()
    let frames = 0
    const spoil = (chunk: Buffer) => {
      if (++frames <= 2) return chunk
      const spoiled = Buffer.from(chunk)
      spoiled[spoiled.length - 1]! ^= 1
      return spoiled
    }
    await using broker = await startBroker({ ...script, relayed: spoil })
    await using home = await makeHome()
    await using one = runAgent(home, throughFrontDoor(broker, script, acceptor), ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    const codes = [await one.exited, await two.exited]
    assert.include(codes, 5, [...one.lines, ...two.lines].join("\n"))
    assert.include([...one.lines, ...two.lines].join("\n"), "The session was cut")
    assert.deepStrictEqual(
      [one.stdout(), two.stdout()].filter((text) => !["", "a", "b"].includes(text)),
      []
    )
  })

  it("goes through the relay when the peer cannot be reached, and dials no address of a local network", async () => {
    const { acceptor, initiator, script } = makePair()
    const closed = "203.0.113.7:1"
    await using broker = await startBroker({
      ...script,
      line: (line, { phase }) =>
        phase === 1 ? line.replace(/r=\S+/, "r=198.51.100.1:5").replace(closed, "10.0.0.1:1") : line
    })
    await using home = await makeHome()
    const listening = { CT_CHANNEL_RELAY_ONLY: "0", CT_CHANNEL_LISTEN: "127.0.0.1:0", CT_CHANNEL_ADVERTISE: closed }
    await using one = runAgent(home, { ...throughFrontDoor(broker, script, acceptor), ...listening }, ["channel"], "a")
    await using two = runAgent(home, throughFrontDoor(broker, script, initiator), ["channel"], "b")
    assert.deepStrictEqual([await one.exited, await two.exited], [0, 0], [...one.lines, ...two.lines].join("\n"))
    assert.includeMembers(
      broker.joins.map(({ endpoint }) => endpoint),
      [closed, "relay-only"]
    )
    assert.include(two.lines.join("\n"), "open, by front-door")
  })
})
