import { assert, describe, it } from "vitest"
import * as CarrierHealth from "../../src/tunnel/CarrierHealth.ts"
import * as QuicUpgrade from "../../src/tunnel/QuicUpgrade.ts"

const all = ["mux", "quic", "slots"] as const

describe("what an agent remembers of its carriers", () => {
  it("tries one that could not be reached after the others, for eight minutes or until it answers", () => {
    let now = 0
    const carrierHealth = CarrierHealth.make(() => now)
    assert.deepStrictEqual(carrierHealth.order(all), all)
    carrierHealth.failed(["mux", "slots"])
    assert.deepStrictEqual(carrierHealth.order(all), ["quic", "mux", "slots"])
    carrierHealth.reached(["slots"])
    assert.deepStrictEqual(carrierHealth.order(all), ["quic", "slots", "mux"])
    now = 479_999
    assert.deepStrictEqual(carrierHealth.order(all), ["quic", "slots", "mux"])
    now = 480_000
    assert.deepStrictEqual(carrierHealth.order(all), all)
  })

  it("probes QUIC at once, every 30 s after a failure, and half as often after each short session", () => {
    const carrierHealth = CarrierHealth.make(() => 0)
    assert.deepStrictEqual(carrierHealth.probing(), { pause: 0, answers: 1 })
    carrierHealth.failed(["quic"])
    assert.deepStrictEqual(carrierHealth.probing(), { pause: 30_000, answers: 1 })
    carrierHealth.reached(["quic"])
    const pauses = Array.from({ length: 6 }, () => {
      carrierHealth.quicEnded(119_999)
      return carrierHealth.probing()
    })
    assert.deepStrictEqual(
      pauses,
      [60, 120, 240, 480, 480, 480].map((seconds) => ({ pause: seconds * 1_000, answers: 2 }))
    )
    carrierHealth.quicEnded(120_000)
    assert.deepStrictEqual(carrierHealth.probing(), { pause: 0, answers: 1 })
  })

  it("takes an edge that refuses TLS for one that is started again, three times in a row", () => {
    const carrierHealth = CarrierHealth.make(() => 0)
    const refused = () => carrierHealth.staysRefused()
    assert.deepStrictEqual([refused(), refused(), refused(), refused()], [false, false, false, true])
    carrierHealth.reached(["mux"])
    assert.isFalse(refused())
  })

  it("goes back to QUIC only from what stands behind it", () => {
    assert.isTrue(QuicUpgrade.isWanted(all, "slots"))
    assert.isFalse(QuicUpgrade.isWanted(all, "mux"))
    assert.isTrue(QuicUpgrade.isWanted(["quic", "mux"], "mux"))
    assert.isFalse(QuicUpgrade.isWanted(["quic"], "quic"))
    assert.isFalse(QuicUpgrade.isWanted(["slots", "quic"], "slots"))
    assert.isFalse(QuicUpgrade.isWanted(["mux", "slots"], "slots"))
  })
})
