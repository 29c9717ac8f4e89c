import * as ServiceManifest from "@catenet/crypto/manifest/ServiceManifest"
import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import * as ServiceEnvironment from "../../src/manifest/ServiceEnvironment.ts"

const id = new Uint8Array(32)

const manifest = (required: boolean): ServiceManifest.Unsigned => ({
  publisher: id,
  manifestId: id,
  name: "",
  version: "",
  installerKind: "compose",
  bundle: { url: "", sha256: id, composeFile: "" },
  envTemplate: [{ name: "A", required, description: "" }],
  verify: { script: "", timeoutSecs: 0n },
  issuedAt: 0n,
  expiresAt: 1n
})

const difference = (a: Uint8Array, b: Uint8Array) =>
  [...a.entries()].flatMap(([at, byte]) => (byte === b[at] ? [] : [[byte, b[at]]]))

it("whether a variable is required is signed as one byte, 1 or 0", () => {
  const [yes, no] = [true, false].map((required) => ServiceManifest.preimage(manifest(required)))
  assert.deepStrictEqual(difference(yes ?? id, no ?? id), [[1, 0]])
})

it("whether the base system is readable is signed as one byte, 1 or 0", () => {
  const read = (text: string) => ServiceEnvironment.bytes(Result.getOrThrow(ServiceEnvironment.json.parse(text)))
  const [yes, no] = [true, false].map((readable) => read(`{"filesystem":{"read_base_os":${readable}}}`))
  assert.deepStrictEqual(difference(yes ?? id, no ?? id), [[1, 0]])
})

it("no cores are no cores, whatever their sign", () => {
  const { resources } = Result.getOrThrow(ServiceEnvironment.json.parse('{"resources":{"cpu_cores":-0.0}}'))
  assert.isTrue(Object.is(resources.cpuCores, 0))
})

it("a publisher is trusted when its key is one of those listed", () => {
  const [one, two, three] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte))
  const listed = [one ?? id, two ?? id]
  assert.deepStrictEqual(
    [one ?? id, two ?? id, three ?? id, id.subarray(1)].map((key) => ServiceManifest.isTrusted(listed, key)),
    [true, true, false, false]
  )
  assert.isFalse(ServiceManifest.isTrusted([], id))
})
