/** The agent's own files in the folder of an installed service: its description and its environment. */
import * as Hex from "@catenet/crypto/Hex"
import type { ServiceManifest } from "@catenet/crypto/manifest/ServiceManifest"
import { Effect, FileSystem, Option, Schema } from "effect"
import * as PrivateFile from "../../state/PrivateFile.ts"

const Activation = Schema.Struct({
  schema: Schema.Literal(1),
  /** If the service has never worked, its folder is removed at the next start. */
  state: Schema.Literals(["installing", "active"]),
  manifest_id: Schema.String,
  publisher_pubkey: Schema.String,
  project_name: Schema.String,
  name: Schema.String,
  version: Schema.String,
  /** The file in the folder that is run. */
  program: Schema.String
})
export type InstallRecord = typeof Activation.Type

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Activation))
const readVariables = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const activationFile = ".ct-agent-activation.json"
const environmentFile = ".ct-agent-environment.json"

export const of = (manifest: ServiceManifest, project: string, program: string): InstallRecord => ({
  schema: 1,
  state: "installing",
  manifest_id: Hex.encode(manifest.manifestId),
  publisher_pubkey: Hex.encode(manifest.publisher),
  project_name: project,
  name: manifest.name,
  version: manifest.version,
  program
})

const bytesOf = (value: unknown) => new TextEncoder().encode(`${JSON.stringify(value, undefined, 2)}\n`)

export const write = (folder: string, activation: InstallRecord) =>
  PrivateFile.replaceAll([{ path: `${folder}/${activationFile}`, bytes: bytesOf(activation) }])

export const writeEnvironment = (folder: string, variables: Readonly<Record<string, string>>) =>
  PrivateFile.replaceAll([{ path: `${folder}/${environmentFile}`, bytes: bytesOf(variables) }])

const textOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.orElseSucceed(fs.readFileString(path), () => "")
})

/** Undefined for a folder that this agent did not create. */
export const read = (folder: string) =>
  Effect.map(textOf(`${folder}/${activationFile}`), (text) => Option.getOrUndefined(decode(text)))

export const readEnvironment = (folder: string) =>
  Effect.map(textOf(`${folder}/${environmentFile}`), (text) => Option.getOrElse(readVariables(text), () => ({})))
