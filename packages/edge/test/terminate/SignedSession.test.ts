import { shown, signed } from "@catenet/proxy/internal/gate/SignedSession"
import { assert, describe, it } from "@effect/vitest"
import { randomBytes } from "node:crypto"
import { periodMillis, ticketKey, ticketKeyBytes, TicketKeyRing } from "../../src/tls/TicketKeyRing.ts"

const host = "app.zone.test"
const token = randomBytes(32).toString("base64url")
const given = (byte: number, from: number) => ticketKey(Buffer.alloc(ticketKeyBytes, byte), from)

const ringAt = (now: number) => {
  const clock = { now }
  return { clock, ring: new TicketKeyRing(() => clock.now) }
}

describe("the session in a cookie", () => {
  it("is recognized at its host by its edge, and its token is that of the control plane", () => {
    const { ring } = ringAt(0)
    const value = signed(ring, host, token)
    assert.deepStrictEqual(shown(ring, host, value), { token, isSigned: true })
    assert.match(value, /^[\w.-]+$/, "no octet that a cookie has to quote")
  })

  it.each([
    ["of another host", (ring: TicketKeyRing) => signed(ring, "other.zone.test", token)],
    ["of another edge", () => signed(ringAt(0).ring, host, token)],
    ["of another session", (ring: TicketKeyRing) => `${token}.${signed(ring, host, "x").split(".")[1]}`],
    ["that is made up", () => `${token}.${randomBytes(16).toString("base64url")}`],
    ["that is cut", (ring: TicketKeyRing) => signed(ring, host, token).slice(0, -2)],
    ["that is empty", () => `${token}.`]
  ])("with a MAC %s is that of a stranger, and not refused", (_, valueOf) => {
    const { ring } = ringAt(0)
    assert.deepStrictEqual(shown(ring, host, valueOf(ring)), { token, isSigned: false })
  })

  it("without a MAC is that of a stranger, and one with two is no session", () => {
    const { ring } = ringAt(0)
    assert.deepStrictEqual(shown(ring, host, token), { token, isSigned: false })
    const twice = `${signed(ring, host, token)}.x`
    assert.deepStrictEqual(shown(ring, host, twice), { token: twice, isSigned: false })
  })

  it("is recognized by each edge that has the key, for as long as the key opens tickets", () => {
    const one = ringAt(0)
    const two = ringAt(0)
    for (const { ring } of [one, two]) ring.give([given(1, 0), given(2, periodMillis)])
    const value = signed(one.ring, host, token)
    assert.isTrue(shown(two.ring, host, value).isSigned)
    two.clock.now = 2 * periodMillis - 1
    assert.isTrue(shown(two.ring, host, value).isSigned, "after the change of keys")
    two.clock.now += 1
    assert.isFalse(shown(two.ring, host, value).isSigned)
  })

  it("that was begun before the edge had keys of the control plane is recognized on", () => {
    const { ring } = ringAt(0)
    const value = signed(ring, host, token)
    ring.give([given(1, 0)])
    assert.isTrue(shown(ring, host, value).isSigned)
  })
})
