/** `whoami`: as whom this machine's commands act, by the word of the control plane where one is known. */
import { Account } from "@catenet/domain/billing/Credits"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import * as TokenClaims from "../account/TokenClaims.ts"
import { configFile } from "../Flags.ts"
import * as Credential from "../login/Credential.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as AccountVariables from "../settings/AccountVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"

export const whoami = Effect.gen(function* () {
  const screen = yield* Screen
  const values = yield* EnvironmentFile.read(yield* configFile, AccountVariables.account)
  const source = LoginVariables.sourceOf(values)
  const controlPlane = yield* ControlPlaneSelection.controlPlaneOf(values)
  const token = yield* AccountClient.bearer(source)
  const claims = TokenClaims.of(token)
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
