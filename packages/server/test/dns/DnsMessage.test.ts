import * as Hex from "@catenet/crypto/Hex"
import { assert, describe, it } from "@effect/vitest"
import { Option, Redacted, Result, Schema } from "effect"
import * as Message from "../../src/dns/DnsMessage.ts"
import * as Tsig from "../../src/dns/Tsig.ts"

const bytes = (hex: string) => Result.getOrThrow(Hex.decode(hex))
const challenge = "0f5f61636d652d6368616c6c656e67650363616d076578616d706c65047465737400"

// Written and signed by dnspython 2.9, which compresses names where we do not.
const plain =
  "123428000001000000020000076578616d706c65047465737400000600010f5f61636d652d6368616c6c656e67650363616dc00c001000ff000000000000c01e001000010000003c000c0b6162632d4445465f313233"
const signature =
  "0b636174656e65742d6b65790000fa00ff00000000003d0b686d61632d7368613235360000006553f100012c0020459a861ba222710c4331556b2a54157ee965fff100a74e4efc81246dc1741c15123400000000"
const reply =
  "1234a8000001000000000001076578616d706c65047465737400000600010b636174656e65742d6b65790000fa00ff00000000003d0b686d61632d7368613235360000006553f100012c002034fa2624470f17fcf41735df9dd3ba2746f803fc10b1a489c81890f1663b490d123400000000"
const answer =
  "0007840000010002000000000f5f61636d652d6368616c6c656e67650363616d076578616d706c6504746573740000100001c00c001000010000003c000d03616263082d4445465f313233c00c001000010000003c0006056f74686572"

const secret = Uint8Array.from(atob("c2VjcmV0LWtleS1vZi0zMi1ieXRlcy1sb25nISE="), (sign) => sign.charCodeAt(0))
const theirs: Tsig.Key = { name: "catenet-key", secret: Redacted.make(secret) }
const at = 1_700_000_000

describe("messages", () => {
  it("ask one server for one record set", () => {
    const message = Message.query(7, { name: "_acme-challenge.cam.example.test.", type: Message.Type.TXT })
    assert.strictEqual(Hex.encode(message), `000700000001000000000000${challenge}00100001`)
  })

  it("replace a record set, and empty it (RFC 2136, 2.5.2)", () => {
    const of = { zone: "example.test", name: "_acme-challenge.cam.Example.test", type: Message.Type.TXT, ttl: 60 }
    const zone = "076578616d706c6504746573740000060001"
    assert.strictEqual(
      Hex.encode(Message.update(0x1234, { ...of, data: [Message.txt("abc-DEF_123")] })),
      `123428000001000000020000${zone}${challenge}001000ff000000000000${challenge}001000010000` +
        `003c000c0b6162632d4445465f313233`
    )
    assert.strictEqual(
      Hex.encode(Message.update(0x1234, { ...of, data: [] })),
      `123428000001000000010000${zone}${challenge}001000ff000000000000`
    )
  })

  it("carry addresses of both families, however they are written", () => {
    const written = (text: string) => Hex.encode(Message.address(text))
    assert.strictEqual(written("192.0.2.255"), "c00002ff")
    const cases = [
      ["2001:db8::1", "20010db8000000000000000000000001"],
      ["2001:DB8:0:0:1:0:0:1", "20010db8000000000001000000000001"],
      ["::", "00".repeat(16)],
      ["::ffff:192.0.2.1", "00000000000000000000ffffc0000201"],
      ["fe80::", `fe80${"00".repeat(14)}`],
      ["1:2:3:4:5:6:7:8", "00010002000300040005000600070008"]
    ] as const
    for (const [text, hex] of cases) assert.strictEqual(written(text), hex, text)
    const of = { zone: "z.test", name: "a.z.test", type: Message.Type.A, ttl: 60 }
    const two = Message.update(1, { ...of, data: ["192.0.2.1", "192.0.2.2"].map(Message.address) })
    assert.strictEqual(
      Hex.encode(two),
      "000128000001000000030000017a04746573740000060001" +
        "0161017a0474657374000001" +
        "00ff000000000000" +
        ["c0000201", "c0000202"].map((data) => `0161017a047465737400000100010000003c0004${data}`).join("")
    )
  })

  it("are read with compressed names and texts of several strings", () => {
    const read = Option.getOrThrow(Message.parse(bytes(answer)))
    assert.deepInclude(read, { id: 7, rcode: 0, isTruncated: false })
    assert.deepStrictEqual(
      read.answers.map((found) => [found.name, found.type, found.ttl, Option.getOrThrow(Message.textOf(found))]),
      [
        ["_acme-challenge.cam.example.test", 16, 60, "abc-DEF_123"],
        ["_acme-challenge.cam.example.test", 16, 60, "other"]
      ]
    )
  })

  it("are no messages in part, and none with a pointer that leads forward or to itself", () => {
    const whole = bytes(answer)
    for (let end = 0; end < whole.length; end++) assert.isTrue(Option.isNone(Message.parse(whole.subarray(0, end))))
    const name = answer.indexOf("c00c")
    for (const pointer of ["c036", "c0ff", "ffff", "c037"]) {
      const looped = answer.slice(0, name) + pointer + answer.slice(name + 4)
      assert.isTrue(Option.isNone(Message.parse(bytes(looped))), pointer)
    }
  })

  it.prop("are never more than refused, whatever the bytes", [Schema.Uint8Array], ([noise]) => {
    Message.parse(noise)
    const answerHead = Uint8Array.from([0, 1, 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0, ...noise])
    Message.parse(answerHead)
    Message.textOf({ name: "a", type: 16, class: 1, ttl: 0, data: noise })
  })
})

describe("signatures", () => {
  it("are those of another program, bit for bit", () => {
    const { message } = Tsig.sign(bytes(plain), theirs, at)
    assert.strictEqual(Hex.encode(message), plain.replace("0000076578", "0001076578") + signature)
  })

  it("of an answer hold for the message that it answers, its bytes, its key and its time alone", () => {
    const request = Tsig.sign(bytes(plain), theirs, at)
    const check = (hex: string, of = request, by = theirs, now = at) => {
      const received = bytes(hex)
      return Option.match(Message.parse(received), {
        onNone: () => false,
        onSome: (read) => Tsig.verify(received, read, of, by, now)
      })
    }
    assert.isTrue(check(reply))
    assert.isTrue(check(reply, request, { ...theirs, name: "Catenet-Key." }, at + 299))
    assert.isFalse(check(reply, { ...request, mac: new Uint8Array(32) }))
    assert.isFalse(check(reply, request, { ...theirs, secret: Redacted.make(new Uint8Array(32)) }))
    assert.isFalse(check(reply, request, { ...theirs, name: "other-key" }))
    assert.isFalse(check(reply, request, theirs, at + 301))
    assert.isFalse(check(answer))
    for (let byte = 2; byte < reply.length / 2; byte++) {
      const flipped = bytes(reply)
      flipped[byte] = (flipped[byte] ?? 0) ^ 0x20
      // The case of a letter in a name does not count.
      const isLetter = /[A-Za-z]/.test(String.fromCharCode(flipped[byte] ?? 0))
      assert.isTrue(isLetter || !check(Hex.encode(flipped)), `byte ${byte}`)
    }
  })
})
