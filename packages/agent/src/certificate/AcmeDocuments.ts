/** The parts of ACME responses that are used (RFC 8555, RFC 9773). Anything else is rejected. */
import { Schema } from "effect"

const Address = Schema.String.check(Schema.isMaxLength(2048))
const Text = Schema.String.check(Schema.isMaxLength(4096))

export const Problem = Schema.Struct({
  type: Schema.optionalKey(Text),
  detail: Schema.optionalKey(Text),
  subproblems: Schema.optionalKey(
    Schema.Array(Schema.Struct({ type: Schema.optionalKey(Text), detail: Schema.optionalKey(Text) })).check(
      Schema.isMaxLength(100)
    )
  )
})

export const Directory = Schema.Struct({
  newNonce: Address,
  newAccount: Address,
  newOrder: Address,
  revokeCert: Schema.optionalKey(Address),
  renewalInfo: Schema.optionalKey(Address)
})
export type Directory = typeof Directory.Type

export const Order = Schema.Struct({
  status: Schema.Literals(["pending", "ready", "processing", "valid", "invalid"]),
  identifiers: Schema.optionalKey(
    Schema.Array(Schema.Struct({ type: Text, value: Text })).check(Schema.isMaxLength(100))
  ),
  // An order has one name, so it has one authorization.
  authorizations: Schema.Tuple([Address]),
  finalize: Address,
  certificate: Schema.optionalKey(Address),
  error: Schema.optionalKey(Problem)
})
export type Order = typeof Order.Type

export const Challenge = Schema.Struct({
  type: Text,
  url: Address,
  /** Part of a DNS name and of signed text: only base64url. */
  token: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,512}$/))),
  error: Schema.optionalKey(Problem)
})
export type Challenge = typeof Challenge.Type

export const Authorization = Schema.Struct({
  status: Schema.Literals(["pending", "valid", "invalid", "deactivated", "expired", "revoked"]),
  identifier: Schema.Struct({ type: Schema.Literal("dns"), value: Text }),
  challenges: Schema.Array(Challenge).check(Schema.isMaxLength(20))
})
export type Authorization = typeof Authorization.Type

/** The used parts of an account and its list of orders. Not every server has one. */
export const Account = Schema.Struct({ orders: Schema.optionalKey(Address) })
export const Orders = Schema.Struct({ orders: Schema.Array(Address) })

export const RenewalInfo = Schema.Struct({
  suggestedWindow: Schema.Struct({
    start: Schema.DateTimeUtcFromString,
    end: Schema.DateTimeUtcFromString
  })
})
