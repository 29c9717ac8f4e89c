/** What an access token says of its user, for the user's own eyes: it is not verified here, the control plane does that. */
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { Option, Redacted, Schema } from "effect"

const Payload = Schema.fromJsonString(
  Schema.Struct({
    email: Schema.optionalKey(Schema.String),
    iss: Schema.optionalKey(Schema.String),
    exp: Schema.optionalKey(UnixSeconds)
  })
)
const decode = Schema.decodeUnknownOption(Payload)

/** Empty for a token that is not a JWT. */
export const of = (token: Redacted.Redacted) => {
  const payload = Redacted.value(token).split(".")[1] ?? ""
  return Option.getOrElse(decode(Buffer.from(payload, "base64url").toString()), () => ({}) as typeof Payload.Type)
}
