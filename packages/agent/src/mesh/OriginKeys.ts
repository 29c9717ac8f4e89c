/**
 * The keys by which clients know this origin, and the capability that brings clients here (agent.md 3.2 and 3.3).
 *
 * With CT_AGENT_ORIGIN_KEY both live on disk and are shared by every agent that is given the same two files; without it both are
 * new in each process. Retired keys go on being served from CT_AGENT_ORIGIN_KEY_DIR.
 */
import * as Capability from "@catenet/crypto/Capability"
import { native } from "@catenet/crypto/native"
import * as OriginKey from "@catenet/crypto/OriginKey"
import type { KeyPair } from "@catenet/crypto/Suite"
import { Effect, FileSystem, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { ConfigurationInvalid, StateUnusable } from "../Failure.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

export interface Places {
  readonly originKey: string | undefined
  readonly originKeyDir: string | undefined
  readonly capability: string
}

export interface OriginKeys {
  /** The current key first. */
  readonly keys: ReadonlyArray<KeyPair>
  readonly capability: Capability.Capability
}

const pairOf = (secret: Redacted.Redacted<Uint8Array>) => native.x25519.keyPair(Redacted.value(secret))

/** A key file's key; undefined when it is missing or has another length. */
const readKey = Effect.fnUntraced(function* (path: string) {
  const content = yield* PrivateFile.read(path)
  return content === undefined ? undefined : Result.getOrUndefined(OriginKey.fromFile(content))
})

/** The origin's own key; undefined when there is none yet. Another file is not taken for one, and not overwritten. */
const readOwnKey = Effect.fnUntraced(function* (path: string) {
  const content = yield* PrivateFile.read(path)
  if (content === undefined || content.length === 0) return undefined
  return yield* Effect.mapError(
    Effect.fromResult(OriginKey.fromFile(content)),
    () =>
      new StateUnusable({
        path,
        detail:
          "it is not an origin key of 32 bytes. Correct CT_AGENT_ORIGIN_KEY, or remove the file to have a new key made."
      })
  )
})

const readCapability = Effect.fnUntraced(function* (path: string) {
  const content = yield* PrivateFile.read(path)
  return content === undefined ? undefined : Result.getOrUndefined(Capability.decode(content))
})

/** Every 32-byte file of the folder, sorted by name. */
const retiredKeys = Effect.fnUntraced(function* (folder: string | undefined) {
  if (folder === undefined) return []
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folder), () => [])
  const keys = yield* Effect.forEach(names.sort(), (name) =>
    Effect.orElseSucceed(readKey(`${folder}/${name}`), () => undefined)
  )
  return keys.flatMap((key) => (key === undefined ? [] : [pairOf(key)]))
})

const random32 = Effect.flatMap(SecureRandom.SecureRandom, (random) =>
  Effect.map(random.randomBytes(32), (bytes) => Redacted.make(bytes))
)

const capabilityOf = (
  routingToken: Redacted.Redacted<Uint8Array>,
  key: Redacted.Redacted<Uint8Array>,
  edgeAddress: string
): Capability.Capability => ({ routingToken, originKey: pairOf(key).publicKey, edgeAddress })

const write = (
  { originKey, capability: path }: Places,
  key: Redacted.Redacted<Uint8Array>,
  capability: Capability.Capability
) =>
  PrivateFile.replaceAll([
    ...(originKey === undefined ? [] : [{ path: originKey, bytes: Redacted.value(key) }]),
    { path, bytes: Capability.encode(capability) }
  ])

/** Fails when what is stored cannot be used. Touches nothing. */
export const check = Effect.fn("OriginKeys.check")(function* (places: Places) {
  if (places.originKey !== undefined) yield* readOwnKey(places.originKey)
  yield* PrivateFile.read(places.capability)
})

/** Loads what is stored, and makes and stores what is missing. A new capability has `token`, or without it a random one. */
export const load = Effect.fn("OriginKeys.load")(function* (
  places: Places,
  token: Redacted.Redacted<Uint8Array> | undefined,
  edgeAddress: string
) {
  const retired = yield* retiredKeys(places.originKeyDir)
  const kept = places.originKey === undefined ? undefined : yield* readOwnKey(places.originKey)
  const stored = kept === undefined ? undefined : yield* readCapability(places.capability)
  if (kept !== undefined && stored !== undefined) {
    const own = pairOf(kept)
    if (Buffer.compare(own.publicKey, stored.originKey) !== 0)
      yield* Effect.logWarning(`${places.capability} names another origin key than ${places.originKey} holds`)
    return { keys: [own, ...retired], capability: stored } satisfies OriginKeys
  }
  const key = kept ?? (yield* random32)
  const capability = capabilityOf(token ?? (yield* random32), key, edgeAddress)
  yield* write(places, key, capability)
  return { keys: [pairOf(key), ...retired], capability } satisfies OriginKeys
})

/** Makes a new key, retires the old one, and re-makes the capability with the same token and address. */
export const rotate = Effect.fn("OriginKeys.rotate")(function* (places: Places) {
  const { originKey, originKeyDir, capability: path } = places
  if (originKey === undefined || originKeyDir === undefined)
    return yield* new ConfigurationInvalid({
      problems: [
        ...(originKey === undefined ? ["CT_AGENT_ORIGIN_KEY is not set. Set it to the file of the origin key."] : []),
        ...(originKeyDir === undefined
          ? ["CT_AGENT_ORIGIN_KEY_DIR is not set. Set it to the folder where old keys go on being served from."]
          : [])
      ]
    })
  const old = yield* readKey(originKey)
  if (old === undefined)
    return yield* new StateUnusable({
      path: originKey,
      detail: "there is no origin key of 32 bytes. Start the agent once first."
    })
  const capability = yield* readCapability(path)
  if (capability === undefined)
    return yield* new StateUnusable({
      path,
      detail: "there is no capability. Start the agent once first, or correct CT_AGENT_CAPABILITY_OUT."
    })
  const retired = `${originKeyDir}/${OriginKey.retiredName(native, old)}`
  yield* PrivateFile.folder(originKeyDir)
  const key = yield* random32
  yield* PrivateFile.replaceAll([{ path: retired, bytes: Redacted.value(old) }])
  yield* write(places, key, capabilityOf(capability.routingToken, key, capability.edgeAddress))
  return { retired }
})
