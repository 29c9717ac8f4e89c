/** What clients send to the development ACME server. */
import { Schema } from "effect"
import { AcmeProblem } from "./AcmeProblem.ts"

export const NewOrder = Schema.Struct({
  identifiers: Schema.Tuple([Schema.Struct({ type: Schema.Literal("dns"), value: Schema.String })]),
  replaces: Schema.optionalKey(Schema.String)
})
export const Finalize = Schema.Struct({ csr: Schema.String })
export const Revocation = Schema.Struct({ certificate: Schema.String, reason: Schema.optionalKey(Schema.Int) })
export const NewAccount = Schema.Struct({
  externalAccountBinding: Schema.optionalKey(Schema.Unknown),
  onlyReturnExisting: Schema.optionalKey(Schema.Boolean)
})

export const decode = <A>(schema: Schema.Decoder<A>, value: unknown): A => {
  try {
    return Schema.decodeUnknownSync(schema)(value)
  } catch {
    throw new AcmeProblem("malformed", "the payload is not what RFC 8555 says")
  }
}
