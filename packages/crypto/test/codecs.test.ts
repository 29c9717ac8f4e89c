import * as Join from "@catenet/crypto/admission/Join"
import * as Capability from "@catenet/crypto/Capability"
import * as Grant from "@catenet/crypto/Grant"
import * as Invitation from "@catenet/crypto/Invitation"
import * as ControlMessage from "@catenet/crypto/upgrade/ControlMessage"
import { describe } from "@effect/vitest"
import { Arbitrary, Option, Result } from "effect"
import * as any from "./arbitraries.ts"
import { codecSuite } from "./codec.ts"
import * as Coordinate from "./records/Coordinate.ts"
import * as Staple from "./records/Staple.ts"

const { key, signature, text, u64 } = any

const grant = Arbitrary.all({ channel: key, holder: key, ...any.permission, signature })
const control = Arbitrary.map(Arbitrary.all([any.oneOf(["Offer", "Ready", "Abort"]), text]), ([tag, endpoint]) =>
  tag === "Offer"
    ? ControlMessage.ControlMessage.Offer({ endpoint: `${endpoint}:1` })
    : ControlMessage.ControlMessage[tag]()
)

describe("records", () => {
  codecSuite("grant", { values: grant, encode: Grant.encode, decode: Grant.decode })
  codecSuite("invitation", {
    values: Arbitrary.all({ channel: key, invitee: key, ...any.permission, signature }),
    encode: Invitation.encode,
    decode: Invitation.decode
  })
  codecSuite("capability", {
    values: Arbitrary.all({ routingToken: any.seed, originKey: key, edgeAddress: text }),
    encode: Capability.encode,
    decode: Capability.decode
  })
  codecSuite("staple", {
    values: Arbitrary.all({ channel: key, holder: key, stapledAt: u64, expiresAt: u64, signature }),
    encode: Staple.encode,
    decode: Staple.decode
  })
  codecSuite("coordinate", {
    values: Arbitrary.all({ holder: key, signature, coordinates: any.anyBytes(20) }),
    encode: Coordinate.encode,
    decode: Coordinate.decode,
    open: true
  })
  codecSuite("join body", {
    values: Arbitrary.all({ grant, endpoint: Arbitrary.map(text, (rest) => `x${rest}`) }),
    encode: Join.encodeBody,
    decode: Join.decodeBody,
    open: true
  })
  codecSuite("control message", {
    values: control,
    encode: ControlMessage.encode,
    decode: (bytes) => Result.fromOption(ControlMessage.decode(bytes), Option.none),
    open: true
  })
})
