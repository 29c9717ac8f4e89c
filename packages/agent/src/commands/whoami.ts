/** `whoami`: the user as whom commands act, confirmed by the control plane if one is known. */
import { Account } from "@catenet/domain/billing/Credits"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Redacted, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as Credential from "../login/Credential.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"

/** The claims of an access token, for the user's own information: not verified here, the control plane does that. */
const Payload = Schema.fromJsonString(
  Schema.Struct({
    email: Schema.optionalKey(Schema.String),
    iss: Schema.optionalKey(Schema.String),
    exp: Schema.optionalKey(UnixSeconds)
  })
)
const decode = Schema.decodeUnknownOption(Payload)

/** Empty if the token is not a JWT. */
const tokenClaims = (token: Redacted.Redacted) => {
  const payload = Redacted.value(token).split(".")[1] ?? ""
  return Option.getOrElse(decode(Buffer.from(payload, "base64url").toString()), () => ({}) as typeof Payload.Type)
}

export const whoami = Effect.gen(function* () {
  const screen = yield* Screen
  const values = yield* EnvironmentFile.read(yield* configFile, LoginVariables.account)
  const source = LoginVariables.sourceOf(values)
  const controlPlane = yield* ControlPlaneSelection.controlPlaneOf(values)
  const token = yield* AccountClient.bearer(source)
  const claims = tokenClaims(token)
  const account =
    controlPlane === undefined
      ? undefined
      : yield* AccountClient.ask({ controlPlane, source }, { method: "GET", path: "/me/account", answer: Account })
  const facts = {
    subject: account?.subject,
    email: claims.email,
    control_plane: controlPlane,
    issuer: claims.iss,
    credential: yield* Credential.stateOf(source),
    expires_at: claims.exp
  }
  if (screen.json) return screen.result(JSON.stringify(facts))
  for (const [name, value] of Object.entries(facts))
    if (value !== undefined) screen.result(`${name.padEnd(13)} = ${value}`)
}).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
