/**
 * The optional environment block of a service manifest (section 15.2.1): what the installed service may access. Every field has a
 * default in JSON; the signature covers the values after defaulting.
 */
import { Effect, Schema, SchemaGetter } from "effect"
import * as Bytes from "../Bytes.ts"
import * as Integer from "../Integer.ts"
import * as JsonField from "../JsonField.ts"
import * as Preimage from "../Preimage.ts"

/** A number of cores rounded to single precision, so that the number shown is the number signed. */
const F32 = Schema.Union([Schema.BigInt, Schema.Finite]).pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transform((value: bigint | number) => Math.fround(Number(value)) + 0),
    encode: SchemaGetter.transform((value: number) => (Number.isSafeInteger(value) ? BigInt(value) : value))
  })
)

const scopes = ["bundle_dir"] as const
const modes = ["private_loopback", "host_loopback", "none"] as const

const or = <S extends Schema.Constraint>(schema: S, missing: S["Encoded"]) =>
  Schema.withDecodingDefaultKey<S>(Effect.succeed(missing))(schema)

const Filesystem = Schema.Struct({
  scope: or(Schema.Literals(scopes), "bundle_dir"),
  readBaseOs: or(Schema.Boolean, true),
  extraRo: or(Schema.Array(JsonField.Text), []),
  tmpMb: or(JsonField.U32, 256)
}).pipe(Schema.encodeKeys({ readBaseOs: "read_base_os", extraRo: "extra_ro", tmpMb: "tmp_mb" }))

const Processes = Schema.Struct({
  allow: or(Schema.Array(JsonField.Text), []),
  maxPids: or(JsonField.U32, 64)
}).pipe(Schema.encodeKeys({ maxPids: "max_pids" }))

const LoopbackPort = Schema.Struct({ port: JsonField.U16, justification: JsonField.Text })
const Egress = Schema.Struct({ host: JsonField.Text, port: JsonField.U16, justification: JsonField.Text })

const Network = Schema.Struct({
  mode: or(Schema.Literals(modes), "private_loopback"),
  hostLoopbackPorts: or(Schema.Array(LoopbackPort), []),
  egress: or(Schema.Array(Egress), [])
}).pipe(Schema.encodeKeys({ hostLoopbackPorts: "host_loopback_ports" }))

const Resources = Schema.Struct({
  cpuCores: or(F32, 1n),
  memoryMb: or(JsonField.U32, 1024),
  wallSecs: or(JsonField.U32, 300),
  diskMb: or(JsonField.U32, 512)
}).pipe(Schema.encodeKeys({ cpuCores: "cpu_cores", memoryMb: "memory_mb", wallSecs: "wall_secs", diskMb: "disk_mb" }))

const Hooks = Schema.Struct({
  verify: or(JsonField.Text, "verify.sh"),
  verifyTimeoutSecs: or(JsonField.U32, 60),
  rollback: Schema.optionalKey(JsonField.Text),
  teardown: Schema.optionalKey(JsonField.Text)
}).pipe(Schema.encodeKeys({ verifyTimeoutSecs: "verify_timeout_secs" }))

const Tiers = Schema.Struct({
  linux: or(JsonField.Text, "bwrap"),
  macos: or(JsonField.Text, "seatbelt"),
  windows: or(JsonField.Text, "wsl2_bwrap")
})

/** The block in JSON. */
export const Environment = Schema.Struct({
  schema: or(JsonField.U32, 1),
  filesystem: or(Filesystem, {}),
  processes: or(Processes, {}),
  network: or(Network, {}),
  resources: or(Resources, {}),
  hooks: or(Hooks, {}),
  sandboxMinTier: or(Tiers, {})
}).pipe(Schema.encodeKeys({ sandboxMinTier: "sandbox_min_tier" }))

/** An environment block with every default filled in. */
export type Environment = typeof Environment.Type

/** The block alone as JSON. */
export const json = JsonField.form("environment", Environment)

const f32le = (value: number): Uint8Array => {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, value, true)
  return bytes
}

/**
 * The block's bytes in the manifest's preimage, without the tag in front.
 *
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { Result } from "effect"
 * import * as ServiceEnvironment from "@catenet/crypto/manifest/ServiceEnvironment"
 *
 * strictEqual(ServiceEnvironment.bytes(Result.getOrThrow(ServiceEnvironment.json.parse("{}"))).length, 101)
 * ```
 */
export const bytes = (environment: Environment): Uint8Array => {
  const { filesystem, processes, network, resources, hooks, sandboxMinTier } = environment
  return Bytes.concat(
    Integer.u32le(environment.schema),
    Integer.u8(scopes.indexOf(filesystem.scope)),
    Integer.u8(filesystem.readBaseOs ? 1 : 0),
    Preimage.list(filesystem.extraRo, Preimage.text),
    Integer.u32le(filesystem.tmpMb),
    Preimage.list(processes.allow, Preimage.text),
    Integer.u32le(processes.maxPids),
    Integer.u8(modes.indexOf(network.mode)),
    Preimage.list(network.hostLoopbackPorts, ({ port, justification }) =>
      Bytes.concat(Integer.u16le(port), Preimage.text(justification))
    ),
    Preimage.list(network.egress, ({ host, port, justification }) =>
      Bytes.concat(Preimage.text(host), Integer.u16le(port), Preimage.text(justification))
    ),
    f32le(resources.cpuCores),
    Integer.u32le(resources.memoryMb),
    Integer.u32le(resources.wallSecs),
    Integer.u32le(resources.diskMb),
    Preimage.text(hooks.verify),
    Integer.u32le(hooks.verifyTimeoutSecs),
    Preimage.optional(hooks.rollback, Preimage.text),
    Preimage.optional(hooks.teardown, Preimage.text),
    Preimage.text(sandboxMinTier.linux),
    Preimage.text(sandboxMinTier.macos),
    Preimage.text(sandboxMinTier.windows)
  )
}
