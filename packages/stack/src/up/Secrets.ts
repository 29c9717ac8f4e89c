/** The stack's own secrets, made once and kept in one private file. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Entropy } from "@catenet/platform/Entropy"
import { Files } from "@catenet/platform/Files"
import * as PrivateFile from "@catenet/platform/PrivateFile"
import { Effect, Schema } from "effect"
import { basename } from "node:path"
import { makeInFolder } from "../StartFailed.ts"

export const Secrets = Schema.Struct({
  edgeAdminToken: Schema.String,
  portalClientSecret: Schema.String,
  gateClientSecret: Schema.String,
  managerClientSecret: Schema.String,
  demoPassword: Schema.String,
  sealKey: Schema.String,
  acmeBindingKey: Schema.String,
  demoChannelSecret: Schema.String,
  bridgeHolderKey: Schema.String,
  bridgeNoiseKey: Schema.String,
  releaseSeed: Schema.String
})
export type Secrets = typeof Secrets.Type

const hex = () => Entropy.randomBytes(32).toString("hex")
const text = (bytes: number) => Entropy.randomBytes(bytes).toString("base64url")

const make = (): Secrets => ({
  edgeAdminToken: hex(),
  portalClientSecret: text(24),
  gateClientSecret: text(24),
  managerClientSecret: text(24),
  demoPassword: text(9),
  sealKey: hex(),
  acmeBindingKey: text(32),
  demoChannelSecret: hex(),
  bridgeHolderKey: hex(),
  bridgeNoiseKey: hex(),
  releaseSeed: hex()
})

const variable = "CT_STACK_FOLDER"
const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const unreadable = (path: string) =>
  ConfigurationInvalid.of(
    variable,
    `names a folder whose ${basename(path)} holds no secrets of the stack`,
    `bring ${path} back from a copy, or name a new folder`
  )

/** Reads the secrets, or makes them on the first start; those that a newer program wants besides are added. */
export const load = Effect.fn("Secrets.load")(function* (path: string) {
  const text = yield* makeInFolder(variable, () => (Files.existsSync(path) ? Files.readFileSync(path, "utf8") : "{}"))
  const stored = yield* Effect.mapError(decode(text), () => unreadable(path))
  const secrets: Secrets = { ...make(), ...stored }
  if (Object.keys(stored).length < Object.keys(secrets).length)
    yield* makeInFolder(variable, () => PrivateFile.replaceNow(path, `${JSON.stringify(secrets, null, 2)}\n`))
  return secrets
})
