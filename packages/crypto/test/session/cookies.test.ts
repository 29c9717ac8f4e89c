import { native } from "@catenet/crypto/native"
import * as GateSession from "@catenet/crypto/session/GateSession"
import * as PortalSession from "@catenet/crypto/session/PortalSession"
import * as SealedCookie from "@catenet/crypto/session/SealedCookie"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import * as any from "../arbitraries.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const key = Redacted.make(new Uint8Array(32).fill(0x6b))
const other = Redacted.make(new Uint8Array(32).fill(0x6c))

const reason = (opened: Result.Result<unknown, { readonly reason: string }>) =>
  Result.isSuccess(opened) ? "ok" : opened.failure.reason

describe("session cookies", () => {
  it.prop(
    "open to what was sealed, for its host and while it lives",
    { host: any.text, identity: any.text, expiresAt: any.u64, elsewhere: any.text },
    ({ host, identity, expiresAt, elsewhere }) => {
      const session = { host, identity, expiresAt }
      const cookie = GateSession.seal(native, key, session)
      const at = (now: bigint, where = host) => GateSession.open(native, key, cookie, where, now)
      if (expiresAt > 0n) assert.deepStrictEqual(at(expiresAt - 1n), Result.succeed(session))
      assert.strictEqual(reason(at(expiresAt)), "Expired")
      if (expiresAt > 0n && elsewhere !== host) assert.strictEqual(reason(at(0n, elsewhere)), "OtherHost")
      assert.strictEqual(reason(GateSession.open(native, other, cookie, host, 0n)), "BadMac")
      assert.strictEqual(reason(PortalSession.open(native, key, cookie, 0n)), "BadMac")
    },
    runs
  )
  it.prop(
    "with any bit turned open to nothing else",
    { subject: any.text, email: any.text, expiresAt: any.u64, bit: any.integer(0, 4000), noise: any.text },
    ({ subject, email, expiresAt, bit, noise }) => {
      const session = { subject, email, expiresAt: expiresAt + (expiresAt === 0n ? 1n : 0n) }
      const cookie = PortalSession.seal(native, key, session)
      assert.deepStrictEqual(PortalSession.open(native, key, cookie, 0n), Result.succeed(session))
      const damaged = Buffer.from(flipped(Buffer.from(cookie), bit)).toString("latin1")
      const opened = PortalSession.open(native, key, damaged, 0n)
      if (Result.isSuccess(opened)) assert.strictEqual(damaged.toLowerCase(), cookie)
      assert.isTrue(Result.isFailure(PortalSession.open(native, key, noise, 0n)))
      assert.isTrue(Result.isFailure(GateSession.open(native, key, noise, noise, 0n)))
    },
    runs
  )
  it("have exactly their fields, each in its one form", () => {
    const gate = (payload: string) =>
      reason(GateSession.open(native, key, SealedCookie.seal(native, key, "ct-gate-session-v1", payload), "h", 0n))
    const portal = (payload: string) =>
      reason(PortalSession.open(native, key, SealedCookie.seal(native, key, "ct-portal-session-v1", payload), 0n))
    assert.deepStrictEqual([gate("68:69:1"), portal("68:1:69")], ["ok", "ok"])
    assert.deepStrictEqual([gate("68:69:0"), portal("68:0:69")], ["Expired", "Expired"])
    for (const payload of ["", "68", "68:69", "68:69:1:", "6:69:1", "68:6:1", "ff:69:1", "68:69:01", "68:69:-1"]) {
      assert.strictEqual(gate(payload), "Malformed", payload)
    }
    for (const payload of ["", "68", "68:1", "68:1:69:", "6:1:69", "68:01:69", "68:1:6"]) {
      assert.strictEqual(portal(payload), "Malformed", payload)
    }
  })
  it("are a payload and its MAC around the last dot", () => {
    const opened = (cookie: string) => SealedCookie.open(native, key, "d", cookie)
    assert.deepStrictEqual(opened(SealedCookie.seal(native, key, "d", "")), Result.succeed([""]))
    assert.deepStrictEqual(opened(SealedCookie.seal(native, key, "d", "a.b:c")), Result.succeed(["a.b", "c"]))
    const mac = SealedCookie.seal(native, key, "d", "").slice(1)
    for (const cookie of ["", mac, "a", "a.00", `\ud800.${mac}`])
      assert.strictEqual(reason(opened(cookie)), "Malformed")
    assert.strictEqual(reason(opened(`a.${mac}`)), "BadMac")
  })
})
