import { assert, describe, it } from "vitest"
import * as QuicProbe from "../../src/tunnel/QuicProbe.ts"
import * as Reach from "../../src/tunnel/Reach.ts"

const all = ["mux", "quic", "slots"] as const

describe("what an agent remembers of its carriers", () => {
  it("tries one that could not be reached after the others, for eight minutes or until it answers", () => {
    let now = 0
    const reach = Reach.make(() => now)
    assert.deepStrictEqual(reach.order(all), all)
    reach.failed(["mux", "slots"])
    assert.deepStrictEqual(reach.order(all), ["quic", "mux", "slots"])
    reach.reached(["slots"])
    assert.deepStrictEqual(reach.order(all), ["quic", "slots", "mux"])
    now = 479_999
    assert.deepStrictEqual(reach.order(all), ["quic", "slots", "mux"])
    now = 480_000
    assert.deepStrictEqual(reach.order(all), all)
  })

  it("probes QUIC at once, every 30 s after a failure, and half as often after each short session", () => {
    const reach = Reach.make(() => 0)
    assert.deepStrictEqual(reach.probing(), { pause: 0, answers: 1 })
    reach.failed(["quic"])
    assert.deepStrictEqual(reach.probing(), { pause: 30_000, answers: 1 })
    reach.reached(["quic"])
    const pauses = Array.from({ length: 6 }, () => {
      reach.quicEnded(119_999)
      return reach.probing()
    })
    assert.deepStrictEqual(
      pauses,
      [60, 120, 240, 480, 480, 480].map((seconds) => ({ pause: seconds * 1_000, answers: 2 }))
    )
    reach.quicEnded(120_000)
    assert.deepStrictEqual(reach.probing(), { pause: 0, answers: 1 })
  })

  it("takes an edge that refuses TLS for one that is started again, three times in a row", () => {
    const reach = Reach.make(() => 0)
    const refused = () => reach.staysRefused()
    assert.deepStrictEqual([refused(), refused(), refused(), refused()], [false, false, false, true])
    reach.reached(["mux"])
    assert.isFalse(refused())
  })

  it("goes back to QUIC only from what stands behind it", () => {
    assert.isTrue(QuicProbe.isWanted(all, "slots"))
    assert.isFalse(QuicProbe.isWanted(all, "mux"))
    assert.isTrue(QuicProbe.isWanted(["quic", "mux"], "mux"))
    assert.isFalse(QuicProbe.isWanted(["quic"], "quic"))
    assert.isFalse(QuicProbe.isWanted(["slots", "quic"], "slots"))
    assert.isFalse(QuicProbe.isWanted(["mux", "slots"], "slots"))
  })
})
