/** Generators of what records are made of. */
import { Arbitrary, Redacted, Schema } from "effect"
import { anyBytes, bytes, integer } from "./suite/arbitraries.ts"

/** Unsigned 64-bit integers of every size, the largest and smallest among them. */
export const u64: Arbitrary.Arbitrary<bigint> = Arbitrary.map(
  Arbitrary.all([bytes(8), integer(0, 66)]),
  ([digits, width]) => {
    const value = digits.reduce((sum, digit) => sum * 256n + BigInt(digit), 0n)
    return width === 65 ? 2n ** 64n - 1n : width === 66 ? 2n ** 53n : BigInt.asUintN(width, value)
  }
)

/** Text that UTF-8 can carry. */
export const text: Arbitrary.Arbitrary<string> = Arbitrary.map(Arbitrary.schema(Schema.String), (value) =>
  value.toWellFormed()
)

export const bool = Arbitrary.schema(Schema.Boolean)

export const oneOf = <const A extends string>(values: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.schema(Schema.Literals(values))

export const few = <A>(item: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<Array<A>> =>
  Arbitrary.array(item, { maxLength: 3 })

export const maybe = <A>(item: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<A | undefined> =>
  Arbitrary.map(Arbitrary.all([bool, item]), ([there, value]) => (there ? value : undefined))

export const key = bytes(32)
export const signature = bytes(64)
export const seed = Arbitrary.map(key, (value) => Redacted.make(value))

export const permission = {
  direction: oneOf(["initiate", "accept", "both"]),
  rights: oneOf(["r", "w", "rw"]),
  delegable: bool,
  expiresAt: u64
}

export const grantClaims = Arbitrary.all({ channel: key, holder: key, ...permission })

export const service = Arbitrary.map(
  Arbitrary.all([oneOf(["CodeGeneration", "SecurityReview", "SafetyCheck", "TextGeneration", "Custom"]), text]),
  ([name, custom]) => (name === "Custom" ? { Custom: custom } : name)
)

export const kind = oneOf(["CloudApiQuota", "LocalHardware"])

export const cardClaims = Arbitrary.all({
  roleTags: few(text),
  skills: few(Arbitrary.all({ id: text, description: text, examples: few(text) })),
  cells: few(key),
  channels: few(key),
  issuedAt: u64,
  expiresAt: u64
})

export const offerTerms = Arbitrary.all({
  kind,
  models: few(text),
  unitsAvailable: u64,
  minPrice: u64,
  currencyId: text,
  issuedAt: u64,
  expiresAt: u64,
  services: few(service)
})

export const bidTerms = Arbitrary.all({
  kind,
  model: text,
  units: u64,
  totalPrice: u64,
  issuedAt: u64,
  expiresAt: u64,
  termsAck: key,
  service: Arbitrary.map(maybe(service), (value) => value ?? null)
})

const parameter = Arbitrary.map(
  Arbitrary.all({
    type: oneOf(["enum", "color", "multiselect", "int"]),
    name: text,
    options: few(text),
    note: maybe(text),
    min: u64
  }),
  ({ type, name, options, note, min }) => {
    switch (type) {
      case "enum":
        return { type, name, options }
      case "color":
        return { type, name }
      case "multiselect":
        return note === undefined ? { type, name, options } : { type, name, options, note }
      case "int":
        return { type, name, min: BigInt.asIntN(64, min), max: 2n ** 63n - 1n }
    }
  }
)

const u16 = integer(0, 0xffff)
const u32 = integer(0, 0xffff_ffff)

const environment = Arbitrary.map(
  Arbitrary.all({
    schema: u32,
    filesystem: Arbitrary.all({
      scope: oneOf(["bundle_dir"]),
      readBaseOs: bool,
      extraRo: few(text),
      tmpMb: u32
    }),
    processes: Arbitrary.all({ allow: few(text), maxPids: u32 }),
    network: Arbitrary.all({
      mode: oneOf(["private_loopback", "host_loopback", "none"]),
      hostLoopbackPorts: few(Arbitrary.all({ port: u16, justification: text })),
      egress: few(Arbitrary.all({ host: text, port: u16, justification: text }))
    }),
    resources: Arbitrary.all({
      cpuCores: Arbitrary.map(integer(0, 6400), (hundredths) => Math.fround(hundredths / 100)),
      memoryMb: u32,
      wallSecs: u32,
      diskMb: u32
    }),
    hooks: Arbitrary.all({ verify: text, verifyTimeoutSecs: u32 }),
    rollback: maybe(text),
    sandboxMinTier: Arbitrary.all({ linux: text, macos: text, windows: text })
  }),
  ({ hooks, rollback, ...rest }) => ({
    ...rest,
    hooks: rollback === undefined ? hooks : { ...hooks, rollback }
  })
)

export const manifest = Arbitrary.map(
  Arbitrary.all({
    manifestId: key,
    name: text,
    version: text,
    installerKind: oneOf(["compose", "binary", "k8s"]),
    bundle: Arbitrary.all({ url: text, sha256: key, composeFile: text }),
    envTemplate: few(Arbitrary.all({ name: text, required: bool, description: text })),
    verify: Arbitrary.all({ script: text, timeoutSecs: u64 }),
    issuedAt: u64,
    expiresAt: u64,
    demoPrompt: maybe(Arbitrary.all({ system: text, parameters: few(parameter), examples: few(text) })),
    environment: maybe(environment)
  }),
  ({ demoPrompt, environment, ...rest }) => ({
    ...rest,
    ...(demoPrompt === undefined ? {} : { demoPrompt }),
    ...(environment === undefined ? {} : { environment })
  })
)

export const composition = Arbitrary.all({
  compositionId: key,
  name: text,
  version: text,
  parts: few(Arbitrary.all({ publisher: key, manifestId: key, signature, registryUrl: text })),
  links: few(Arbitrary.all({ a: u32, b: u32, upgradeHint: oneOf(["relay_only", "attempt_direct"]) })),
  issuedAt: u64,
  expiresAt: u64
})

export { anyBytes, bytes, integer }

/** Named byte fields. */
export type Fields = Readonly<Record<string, Uint8Array>>
