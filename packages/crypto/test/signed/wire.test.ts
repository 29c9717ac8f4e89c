/** Signed records with a wire form: they verify as signed, and with any one bit turned they do not. */
import * as Grant from "@catenet/crypto/Grant"
import * as Invitation from "@catenet/crypto/Invitation"
import { native } from "@catenet/crypto/native"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Redacted, Result } from "effect"
import * as any from "../arbitraries.ts"
import * as Coordinate from "../records/Coordinate.ts"
import * as Staple from "../records/Staple.ts"
import { flipped, runs } from "../suite/arbitraries.ts"

const { key, u64 } = any
const seed = Redacted.make(new Uint8Array(32).fill(7))
const signer = native.ed25519.publicKey(Redacted.value(seed))
const live = Arbitrary.map(u64, (expiresAt) => (expiresAt === 0n ? 1n : expiresAt))

/** A record whose wire form carries the signature. `holds` decodes and verifies. */
const wireSuite = <A>(
  name: string,
  values: Arbitrary.Arbitrary<A>,
  sign: (value: A) => Uint8Array,
  holds: (wire: Uint8Array) => boolean
) =>
  it.prop(
    `${name} with any bit turned is refused`,
    { value: values, bit: any.integer(0, 40_000) },
    ({ value, bit }) => {
      const wire = sign(value)
      assert.isTrue(holds(wire))
      assert.isFalse(holds(flipped(wire, bit)))
    },
    runs
  )

const decoded =
  <A>(decode: (bytes: Uint8Array) => Result.Result<A, unknown>, verify: (value: A) => boolean) =>
  (wire: Uint8Array) =>
    Result.match(decode(wire), { onSuccess: verify, onFailure: () => false })

describe("wire records", () => {
  wireSuite(
    "a grant",
    Arbitrary.all({ channel: key, holder: key, ...any.permission, expiresAt: live }),
    (claims) => Grant.encode(Grant.sign(native, seed, claims)),
    decoded(Grant.decode, (grant) => Result.isSuccess(Grant.verify(native, grant, signer, 0)))
  )
  wireSuite(
    "an invitation",
    Arbitrary.all({ channel: key, invitee: key, ...any.permission, expiresAt: live }),
    (claims) => Invitation.encode(Invitation.sign(native, seed, claims)),
    decoded(Invitation.decode, (invitation) => Result.isSuccess(Invitation.verify(native, invitation, signer, 0)))
  )
  wireSuite(
    "a staple",
    Arbitrary.all({ channel: key, holder: key, stapledAt: u64, expiresAt: live }),
    (claims) => Staple.encode(Staple.sign(native, seed, claims)),
    decoded(Staple.decode, (staple) => Staple.verify(native, staple, signer, 0))
  )
  wireSuite(
    "a coordinate record",
    any.anyBytes(20),
    (coordinates) => Coordinate.encode(Coordinate.sign(native, seed, signer, coordinates)),
    decoded(Coordinate.decode, (record) => Coordinate.verify(native, signer, record))
  )
})
