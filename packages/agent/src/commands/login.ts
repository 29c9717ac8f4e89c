/** `login`: gets tokens after a person confirms in a browser, on this machine or another, and stores them for this user only. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option } from "effect"
import { dirname } from "node:path"
import { UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as DeviceFlow from "../login/DeviceFlow.ts"
import * as IdentityProviderClient from "../login/IdentityProviderClient.ts"
import * as StoredLogin from "../login/StoredLogin.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { baseUrl } from "../settings/HostPort.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"

/** The address given to the command, or the configured one. */
const named = Effect.fnUntraced(function* (given: Option.Option<string>, configured: string | undefined) {
  if (Option.isNone(given)) return configured
  const parsed = baseUrl.parse(given.value)
  if (parsed === undefined)
    return yield* new UsageWrong({ detail: `${given.value} is not ${baseUrl.expected}, such as ${baseUrl.example}.` })
  return parsed
})

const issuerOf = Effect.fnUntraced(function* (issuer: string | undefined, controlPlane: string | undefined) {
  if (issuer !== undefined) return issuer
  if (controlPlane !== undefined) return yield* IdentityProviderClient.issuerOf(controlPlane)
  return yield* ConfigurationInvalid.of(
    "CT_OIDC_ISSUER",
    "is not set, and no control plane either",
    "name the control plane: ct-agent login https://portal.example.org"
  )
})

/** Checks that the login can be stored, before a person is asked for anything. */
const ready = Effect.fnUntraced(function* (path: string) {
  yield* PrivateFile.folder(dirname(path))
  yield* PrivateFile.replaceAll([{ path: `${path}.probe`, bytes: new TextEncoder().encode("a rename works here") }])
  yield* PrivateFile.remove(`${path}.probe`)
})

const shown = (screen: Screen["Service"]) => (device: DeviceFlow.Device) =>
  Effect.sync(() => {
    const { user_code, verification_uri, verification_uri_complete } = device
    if (screen.json)
      return screen.log(JSON.stringify({ level: "info", program: "ct-agent", user_code, verification_uri }))
    screen.log(`Open ${verification_uri} in a browser and enter the code ${user_code}`)
    if (verification_uri_complete !== undefined) screen.log(`or open ${verification_uri_complete}`)
    screen.log("Waiting for the confirmation ...")
  })

export const login = ({ controlPlane: given }: { readonly controlPlane: Option.Option<string> }) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const {
      client,
      issuer: configured,
      ...values
    } = yield* EnvironmentFile.read(yield* configFile, LoginVariables.login)
    const controlPlane = yield* named(given, values.controlPlane)
    const issuer = yield* issuerOf(configured, controlPlane)
    const { stored } = LoginVariables.sourceOf(values)
    yield* ready(stored)
    const tokens = yield* DeviceFlow.run({ issuer, clientId: client, controlPlane }, shown(screen))
    yield* FolderLock.holding(stored)(StoredLogin.write(stored, tokens))
    yield* Effect.logInfo(`logged in; the login is stored in ${stored}`)
    if (values.bearer !== undefined || values.bearerFile !== undefined)
      yield* Effect.logWarning(
        "CT_OIDC_TOKEN or CT_OIDC_TOKEN_FILE is set and wins over this login. Unset it to use the login."
      )
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))
