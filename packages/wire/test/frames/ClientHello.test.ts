import { Dice } from "@catenet/testing/wire/dice"
import { assert, describe, it } from "@effect/vitest"
import { ClientHelloReader, type HelloPeek } from "../../src/frames/ClientHello.ts"
import { extension, handmade, hasOpenssl, inRecords, nodeHello, opensslHello, protocols, serverName } from "./hellos.ts"

const read = (...chunks: ReadonlyArray<Uint8Array>): HelloPeek => {
  const reader = new ClientHelloReader()
  let peek: HelloPeek = { _tag: "More" }
  for (const chunk of chunks) peek = reader.push(chunk)
  assert.deepStrictEqual(reader.bytes, Buffer.concat(chunks))
  return peek
}

const hello = (
  serverName: string | undefined,
  alpn: ReadonlyArray<string> = [],
  { earlyData = false, ech = false, ticket }: { earlyData?: boolean; ech?: boolean; ticket?: string } = {}
): HelloPeek => ({
  _tag: "Hello",
  hello: { serverName, alpn, ech, earlyData, ...(ticket === undefined ? {} : { ticket }) }
})

/** Every way of cutting that a path may do to it: at every byte, byte by byte, and in records of many sizes. */
const survivesEveryCut = (flight: Buffer, expected: HelloPeek) => {
  assert.deepStrictEqual(read(flight), expected)
  for (let at = 1; at < flight.length; at++) {
    assert.deepStrictEqual(read(flight.subarray(0, at)), { _tag: "More" })
    assert.deepStrictEqual(read(flight.subarray(0, at), flight.subarray(at)), expected)
  }
  const single = [...flight].map((byte) => Uint8Array.of(byte))
  assert.deepStrictEqual(read(...single), expected)
  for (let size = 1; size <= 1300; size = size < 32 ? size + 1 : size + 37) {
    const records = inRecords(flight, size)
    assert.deepStrictEqual(read(records), expected)
    assert.deepStrictEqual(read(records.subarray(0, -1)), { _tag: "More" })
    const half = records.length >> 1
    assert.deepStrictEqual(read(records.subarray(0, half), records.subarray(half)), expected)
  }
}

describe("ClientHello", () => {
  it("of node", async () => {
    const flight = await nodeHello({ servername: "Demo.Example.COM", ALPNProtocols: ["h2", "http/1.1", "ct-edge"] })
    survivesEveryCut(flight, hello("demo.example.com", ["h2", "http/1.1", "ct-edge"]))
  })

  it("of node without a name", async () => {
    survivesEveryCut(await nodeHello({ servername: "" }), hello(undefined))
  })

  it("of node with TLS 1.2 only", async () => {
    survivesEveryCut(await nodeHello({ servername: "a.test", maxVersion: "TLSv1.2" }), hello("a.test"))
  })

  it.skipIf(!hasOpenssl)("of openssl", async () => {
    survivesEveryCut(
      await opensslHello("-servername", "x.example.org", "-alpn", "acme-tls/1"),
      hello("x.example.org", ["acme-tls/1"])
    )
    survivesEveryCut(await opensslHello("-noservername"), hello(undefined))
  })

  it("carries what follows it in the bytes to replay", () => {
    const flight = handmade(serverName("a.test"))
    assert.deepStrictEqual(read(Buffer.concat([flight, Buffer.from("early data")])), hello("a.test"))
  })

  it("of any allowed shape", () => {
    assert.deepStrictEqual(read(handmade()), hello(undefined))
    assert.deepStrictEqual(
      read(handmade(serverName("a.test."), extension(0xfe0d, Buffer.alloc(9)))),
      hello("a.test", [], { ech: true })
    )
    assert.deepStrictEqual(
      read(handmade(serverName("a.test"), extension(42))),
      hello("a.test", [], { earlyData: true })
    )
    assert.deepStrictEqual(
      read(handmade(extension(0x0a0a), protocols("\x0a\x0a", "h2"))),
      hello(undefined, ["\x0a\x0a", "h2"])
    )
    const large = handmade(extension(21, Buffer.alloc(60_000)), serverName("late.test"))
    assert.deepStrictEqual(read(large), hello("late.test"))
    assert.deepStrictEqual(
      read(inRecords(handmade(extension(21, Buffer.alloc(9_000)), serverName("a.test")), 700)),
      hello("a.test")
    )
  })

  it("tells the beginning of the session ticket that is shown first, in either version of TLS", () => {
    const name = "0123456789abcdef".repeat(2)
    const ticket = Buffer.concat([Buffer.from(name, "hex"), Buffer.alloc(176, 7)])
    const sized = (bytes: Buffer) => {
      const size = Buffer.alloc(2)
      size.writeUInt16BE(bytes.length)
      return Buffer.concat([size, bytes])
    }
    const identity = (bytes: Buffer) => Buffer.concat([sized(bytes), Buffer.alloc(4, 1)])
    const shown = (...identities: ReadonlyArray<Buffer>) =>
      extension(41, Buffer.concat([sized(Buffer.concat(identities)), sized(Buffer.alloc(33, 32))]))
    const other = identity(Buffer.alloc(192, 9))
    assert.deepStrictEqual(
      read(handmade(serverName("a.test"), shown(identity(ticket), other))),
      hello("a.test", [], { ticket: name })
    )
    assert.deepStrictEqual(
      read(handmade(serverName("a.test"), extension(35, ticket))),
      hello("a.test", [], { ticket: name })
    )
    // What is too short to name a key, or is cut off, is for the TLS server to refuse.
    for (const none of [
      shown(identity(ticket.subarray(0, 15))),
      extension(41, Buffer.from("00ff00ff00", "hex")),
      extension(41),
      extension(35),
      extension(35, ticket.subarray(0, 15))
    ])
      assert.deepStrictEqual(read(handmade(serverName("a.test"), none)), hello("a.test"))
  })

  const cases: ReadonlyArray<readonly [string, Buffer, string]> = [
    ["plain HTTP", Buffer.from("GET / HTTP/1.1\r\n"), "not TLS"],
    ["an alert", Buffer.from("15030100020228", "hex"), "not TLS"],
    ["SSL of another major version", Buffer.from("160200000501", "hex"), "not TLS"],
    ["an empty record", Buffer.from("1603010000", "hex"), "malformed record"],
    ["a record beyond its bound", Buffer.from("1603014001", "hex"), "malformed record"],
    ["a ServerHello", Buffer.from("160301000102", "hex"), "not a ClientHello"],
    ["a hello that announces too much", Buffer.from("16030100040100fffd", "hex"), "hello too large"],
    ["two names", handmade(serverName("a.test", "b.test")), "malformed server name"],
    ["two name extensions", handmade(serverName("a.test"), serverName("b.test")), "two server names"],
    ["two protocol lists", handmade(protocols("h2"), protocols("h2")), "two protocol lists"],
    ["an empty protocol", handmade(protocols("")), "malformed protocol list"],
    ["a name that is none", handmade(serverName("a..test")), "malformed server name"],
    ["a name with a zero byte", handmade(serverName("a.test\0.evil")), "malformed server name"],
    ["a name list shorter than said", handmade(extension(0, Buffer.from("00ff", "hex"))), "malformed server name"],
    ["extensions longer than the hello", handmade(Buffer.from("000a00ff", "hex")), "malformed extensions"]
  ]
  for (const [name, bytes, reason] of cases) {
    it(`is not ${name}`, () => {
      assert.deepStrictEqual(read(bytes), { _tag: "Invalid", reason })
    })
  }

  it("gives the same result for every longer prefix", () => {
    const reader = new ClientHelloReader()
    assert.strictEqual(reader.push(Buffer.from("x"))._tag, "Invalid")
    assert.strictEqual(reader.push(handmade())._tag, "Invalid")
  })

  it("takes 64 KiB byte by byte in linear time, and no more", () => {
    const flight = inRecords(handmade(extension(21, Buffer.alloc(60_000)), serverName("a.test")), 16_000)
    const reader = new ClientHelloReader()
    let last: HelloPeek = { _tag: "More" }
    for (let at = 0; at < flight.length; at++) last = reader.push(flight.subarray(at, at + 1))
    assert.deepStrictEqual(last, hello("a.test"))
    assert.deepStrictEqual(read(inRecords(flight, 1).subarray(0, 200_000)), {
      _tag: "Invalid",
      reason: "hello too large"
    })
  })

  it("never throws, whatever is done to real hellos", async () => {
    const flights = [
      await nodeHello({ servername: "demo.example.com", ALPNProtocols: ["h2"] }),
      handmade(serverName("a.test"), protocols("h2", "http/1.1"), extension(0xfe0d, Buffer.alloc(30)))
    ]
    const dice = new Dice(20_261_121)
    const seen = new Set<string>()
    for (let round = 0; round < 200_000; round++) {
      const bytes = Buffer.from(dice.pick(flights))
      for (let changes = dice.between(1, 4); changes > 0; changes--) {
        // Most of a hello is opaque; the structure is where a parser can go wrong.
        const at =
          dice.between(0, 3) === 0
            ? dice.between(0, bytes.length - 1)
            : dice.between(0, Math.min(300, bytes.length) - 1)
        bytes[at] = dice.pick([0, 1, 0xff, dice.between(0, 255), (bytes[at]! + 1) & 255])
      }
      const cut = dice.between(0, 7) === 0 ? dice.between(0, bytes.length) : bytes.length
      const reader = new ClientHelloReader()
      seen.add(reader.push(bytes.subarray(0, cut))._tag)
    }
    assert.deepStrictEqual([...seen].sort(), ["Hello", "Invalid", "More"])
  })
})
