import { assert, describe, it } from "@effect/vitest"
import { UnfinishedHandshakes } from "../../src/quic/side/UnfinishedHandshakes.ts"

const world = (most: number) => {
  const time = { now: 0 }
  const handshakes = new UnfinishedHandshakes(most, () => time.now)
  const ended: Array<string> = []
  const begin = (address: string, name: string) => handshakes.begin(address, () => void ended.push(name))
  return { begin, ended, time }
}

describe("unfinished handshakes", () => {
  it("up to the bound end none; the next one has the address with the most give up its oldest", () => {
    const { begin, ended } = world(4)
    begin("192.0.2.2", "other")
    for (const name of ["1", "2", "3"]) begin("192.0.2.1", name)
    assert.deepStrictEqual(ended, [])
    begin("192.0.2.2", "newcomer")
    assert.deepStrictEqual(ended, ["1"])
    begin("192.0.2.1", "4")
    begin("192.0.2.3", "newcomer")
    assert.deepStrictEqual(ended, ["1", "other", "2"], "of two with as many the one that came first")
  })

  it("of made-up addresses with one each make room for a newcomer, the oldest first", () => {
    const { begin, ended } = world(3)
    for (let n = 1; n <= 5; n++) begin(`192.0.2.${n}`, `${n}`)
    assert.deepStrictEqual(ended, ["1", "2"])
  })

  it("that are late make room before those that have just begun, of an address with more of them, too", () => {
    const { begin, ended, time } = world(4)
    begin("192.0.2.1", "late")
    time.now = 999
    for (const name of ["1", "2", "3", "4"]) begin("192.0.2.2", name)
    assert.deepStrictEqual(ended, ["1"], "nothing is late yet")
    time.now = 1_000
    begin("192.0.2.2", "5")
    assert.deepStrictEqual(ended, ["1", "late"])
  })

  it("of one IPv6 customer count as those of one address", () => {
    const { begin, ended } = world(3)
    begin("2001:db8::1", "other")
    begin("2001:db8:0:1::1", "1")
    begin("2001:db8:0:1::2", "2")
    begin("2001:db8::2", "newcomer")
    assert.deepStrictEqual(ended, ["1"])
  })

  it("that are over leave their places, however often they leave", () => {
    const { begin, ended } = world(2)
    const leave = begin("192.0.2.1", "1")
    leave()
    leave()
    begin("192.0.2.1", "2")
    begin("192.0.2.1", "3")
    assert.deepStrictEqual(ended, [])
    begin("192.0.2.2", "4")
    assert.deepStrictEqual(ended, ["2"])
  })
})
