import { DatagramReader, encodeDatagram, maxDatagram } from "@catenet/wire/frames/Datagrams"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const bytesOf = (datagram: Uint8Array) => encodeDatagram(datagram) ?? assert.fail("too long")

describe("datagrams on a stream", () => {
  it.prop(
    "come out as they went in, however the stream is segmented",
    [Schema.Array(Schema.Uint8Array), Schema.Int],
    ([datagrams, seed]) => {
      const stream = Buffer.concat(datagrams.map(bytesOf))
      const reader = new DatagramReader()
      const out: Array<string> = []
      let step = Math.abs(seed % 7) + 1
      for (let at = 0; at < stream.length; at += step, step = (step % 7) + 1)
        for (const each of reader.push(stream.subarray(at, at + step))) out.push(each.toString("hex"))
      assert.deepStrictEqual(
        out,
        datagrams.map((each) => Buffer.from(each).toString("hex"))
      )
    }
  )

  it("are as long as their length can tell, and no longer", () => {
    assert.strictEqual(bytesOf(new Uint8Array(maxDatagram)).length, maxDatagram + 2)
    assert.isUndefined(encodeDatagram(new Uint8Array(maxDatagram + 1)))
    assert.strictEqual(new DatagramReader().push(bytesOf(new Uint8Array(maxDatagram)))[0]?.length, maxDatagram)
  })

  it("are not given out before they are whole", () => {
    const whole = bytesOf(Buffer.from("datagram"))
    for (let length = 0; length < whole.length; length++)
      assert.deepStrictEqual(new DatagramReader().push(whole.subarray(0, length)), [])
  })
})
