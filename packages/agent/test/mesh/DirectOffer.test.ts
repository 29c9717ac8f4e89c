import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as MeshHandshake from "../../src/mesh/MeshHandshake.ts"

const token = new Uint8Array(32).fill(7)

describe("the payloads of the Noise handshake", () => {
  it("are nothing, a question or a ticket", () => {
    assert.deepStrictEqual(MeshHandshake.readPayload(new Uint8Array()), { _tag: "Nothing" })
    assert.deepStrictEqual(MeshHandshake.readPayload(MeshHandshake.question), { _tag: "Question" })
    assert.deepStrictEqual(MeshHandshake.ticket(token), Uint8Array.from([1, ...token]))
    assert.deepStrictEqual(MeshHandshake.readPayload(MeshHandshake.ticket(token)), { _tag: "Ticket", token })
  })

  it.prop("are refused in every other form", [Schema.Uint8Array], ([bytes]) => {
    const known =
      bytes.length === 0 || (bytes.length === 1 && bytes[0] === 2) || (bytes.length === 33 && bytes[0] === 1)
    assert.strictEqual(MeshHandshake.readPayload(bytes) !== undefined, known)
  })

  it("answer with an address that can be dialled", () => {
    for (const address of [
      { host: "192.0.2.1", port: 4711 },
      { host: "2001:db8::1", port: 65_535 }
    ])
      assert.deepStrictEqual(MeshHandshake.readAnswer(MeshHandshake.answerDirectQuestion(address)), address)
    assert.strictEqual(MeshHandshake.answerDirectQuestion(undefined).length, 0)
    for (const text of ["", "1.2.3.4", "1.2.3.4:0", "name.example:80", "1.2.3.4:65536", "[1.2.3.4]:80", "\u0000:1"])
      assert.isUndefined(MeshHandshake.readAnswer(Uint8Array.from([2, ...Buffer.from(text)])))
    assert.isUndefined(MeshHandshake.readAnswer(Uint8Array.from(Buffer.from("1.2.3.4:80"))))
  })

  it.prop("never answer anything else, for any bytes", [Schema.Uint8Array], ([bytes]) => {
    const address = MeshHandshake.readAnswer(bytes)
    if (address !== undefined)
      assert.deepStrictEqual(MeshHandshake.readAnswer(MeshHandshake.answerDirectQuestion(address)), address)
  })
})
