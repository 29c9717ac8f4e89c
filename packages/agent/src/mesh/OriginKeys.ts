/**
 * The keys by which clients identify this origin, and the capability that leads clients here (agent.md 3.2 and 3.3). With
 * CT_AGENT_ORIGIN_KEY both are stored on disk, beside the routing token, and shared by all agents that get these files; without
 * it each process has new ones. Retired keys in CT_AGENT_ORIGIN_KEY_DIR are still accepted.
 */
import * as Capability from "@catenet/crypto/Capability"
import * as ConstantTime from "@catenet/crypto/ConstantTime"
import { native } from "@catenet/crypto/native"
import * as OriginKey from "@catenet/crypto/OriginKey"
import type { KeyPair } from "@catenet/crypto/Suite"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import * as VisitorToken from "@catenet/crypto/VisitorToken"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, FileSystem, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { StateUnusable } from "../Failure.ts"
import * as KeyFile from "../state/KeyFile.ts"
import * as PrivateFile from "../state/PrivateFile.ts"

/**
 * The routing token of a mesh tunnel, which the capability does not contain: a private file beside the origin key. It is hex with
 * a newline, so that it is not taken for a key in the folder of retired keys.
 */
const placeOf = (originKey: string) => `${originKey}.token`

/** The file to write for the agents of this origin key. */
const routingTokenContent = (originKey: string, token: Redacted.Redacted<Uint8Array>): PrivateFile.Content => ({
  path: placeOf(originKey),
  bytes: new TextEncoder().encode(`${Redacted.value(TokenEncoding.hexText(token))}\n`)
})

/** The stored token; undefined if there is none. Any other content is an error. */
const readRoutingToken = Effect.fn("OriginKeys.read")(function* (originKey: string) {
  const path = placeOf(originKey)
  const bytes = yield* KeyFile.read(path)
  if (bytes === undefined || bytes.length === 0) return undefined
  const token = TokenEncoding.fromHexText(new TextDecoder().decode(bytes).trim())
  if (Result.isSuccess(token)) return token.success
  return yield* new StateUnusable({
    path,
    detail: "it is not a routing token of 64 hex characters. Remove it, and set CT_AGENT_TOKEN to the tunnel's."
  })
})

export interface Places {
  readonly originKey: string | undefined
  readonly originKeyDir: string | undefined
  readonly capability: string
}

export interface OriginKeys {
  /** Keys, the current one first. */
  readonly keys: ReadonlyArray<KeyPair>
  /** The token with which the agent registers. The capability contains a value derived from it. */
  readonly token: Redacted.Redacted<Uint8Array>
}

const pairOf = (secret: Redacted.Redacted<Uint8Array>) => native.x25519.keyPair(Redacted.value(secret))

/** A key file's key; undefined when it is missing or has another length. */
const readKey = Effect.fnUntraced(function* (path: string) {
  const content = yield* KeyFile.read(path)
  return content === undefined ? undefined : Result.getOrUndefined(OriginKey.fromFile(content))
})

/** The origin's key; undefined if there is none. Any other content is an error and is not overwritten. */
const readOwnKey = Effect.fnUntraced(function* (path: string) {
  const content = yield* KeyFile.read(path)
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

const sameBytes = (a: Redacted.Redacted<Uint8Array>, b: Redacted.Redacted<Uint8Array>) =>
  ConstantTime.equal(Redacted.value(a), Redacted.value(b))

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
  capability: Capability.Capability,
  token?: Redacted.Redacted<Uint8Array>
) =>
  PrivateFile.replaceAll([
    ...(originKey === undefined ? [] : [{ path: originKey, bytes: Redacted.value(key) }]),
    ...(originKey === undefined || token === undefined ? [] : [routingTokenContent(originKey, token)]),
    { path, bytes: Capability.encode(capability) }
  ])

/** The routing token of a stored capability: the one in it, or the known one from which it was derived. */
const tokenOf = (
  stored: Capability.Capability,
  atHand: ReadonlyArray<Redacted.Redacted<Uint8Array> | undefined>
): Redacted.Redacted<Uint8Array> | undefined =>
  VisitorToken.is(Redacted.value(stored.routingToken))
    ? atHand.find((token) => token !== undefined && sameBytes(VisitorToken.of(native, token), stored.routingToken))
    : stored.routingToken

/** Fails if the stored files cannot be used. Changes nothing. */
export const check = Effect.fn("OriginKeys.check")(function* (places: Places) {
  if (places.originKey !== undefined) {
    yield* readOwnKey(places.originKey)
    yield* readRoutingToken(places.originKey)
  }
  yield* PrivateFile.read(places.capability)
})

/**
 * Loads what is stored, and creates and stores what is missing. A new capability is made from `given`, else from the stored
 * routing token, else from a random one. A capability of `replaced` is remade.
 */
export const load = Effect.fn("OriginKeys.load")(function* (
  places: Places,
  given: Redacted.Redacted<Uint8Array> | undefined,
  edgeAddress: string,
  replaced?: Redacted.Redacted<Uint8Array>
) {
  const retired = yield* retiredKeys(places.originKeyDir)
  const kept = places.originKey === undefined ? undefined : yield* readOwnKey(places.originKey)
  const stored = kept === undefined ? undefined : yield* readCapability(places.capability)
  const storedToken = places.originKey === undefined ? undefined : yield* readRoutingToken(places.originKey)
  if (kept !== undefined && stored !== undefined) {
    const own = pairOf(kept)
    if (Buffer.compare(own.publicKey, stored.originKey) !== 0)
      yield* Effect.logWarning(`${places.capability} names another origin key than ${places.originKey} holds`)
    const token = tokenOf(stored, [storedToken, given])
    const isReplaced = token !== undefined && replaced !== undefined && sameBytes(token, replaced)
    if (token !== undefined && !isReplaced) {
      if (places.originKey !== undefined && (storedToken === undefined || !sameBytes(storedToken, token)))
        yield* PrivateFile.replaceAll([routingTokenContent(places.originKey, token)])
      return { keys: [own, ...retired], token } satisfies OriginKeys
    }
    if (given === undefined)
      return yield* new StateUnusable({
        path: places.capability,
        detail:
          "its routing token is not on this machine. Set CT_AGENT_TOKEN to it, or remove the file to have a new one."
      })
    yield* Effect.logWarning(
      isReplaced
        ? `the tunnel has another routing token now; clients need the new ${places.capability}`
        : `${places.capability} is of another tunnel than CT_AGENT_TOKEN names; clients need the new one`
    )
  }
  const key = kept ?? (yield* random32)
  const token = given ?? storedToken ?? (yield* random32)
  yield* write(places, key, capabilityOf(VisitorToken.of(native, token), key, edgeAddress), token)
  return { keys: [pairOf(key), ...retired], token } satisfies OriginKeys
})

/**
 * Puts the token that the edge accepts from clients into the capability: the visitor token, or the routing token for an edge that
 * does not know it. Everything else stays, because the key may have been rotated; a capability of another tunnel is not changed.
 */
export const share = Effect.fn("OriginKeys.share")(function* (
  { capability: path }: Places,
  token: Redacted.Redacted<Uint8Array>,
  visitorTokens: boolean
) {
  const stored = yield* readCapability(path)
  const visitorToken = VisitorToken.of(native, token)
  const [wanted, other] = visitorTokens ? [visitorToken, token] : [token, visitorToken]
  if (stored === undefined || !sameBytes(stored.routingToken, other)) return
  yield* PrivateFile.replaceAll([{ path, bytes: Capability.encode({ ...stored, routingToken: wanted }) }])
  yield* visitorTokens
    ? Effect.logInfo(`${path} now lets its holders visit and no more; give clients the new file`)
    : Effect.logWarning(`this edge knows no visitor tokens: who has ${path} could also register as the agent`)
})

/** Creates a new key, retires the old one, and rewrites the capability with the same token and address. */
export const rotate = Effect.fn("OriginKeys.rotate")(function* (places: Places) {
  const { originKey, originKeyDir, capability: path } = places
  if (originKey === undefined || originKeyDir === undefined)
    return yield* new ConfigurationInvalid({
      problems: [
        { variable: "CT_AGENT_ORIGIN_KEY", value: originKey, remedy: "set it to the file of the origin key" },
        {
          variable: "CT_AGENT_ORIGIN_KEY_DIR",
          value: originKeyDir,
          remedy: "set it to the folder where old keys go on being served from"
        }
      ].flatMap(({ remedy, value, variable }) =>
        value === undefined ? [{ variable, problem: "is not set", remedy }] : []
      )
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
