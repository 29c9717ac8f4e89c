/** A room that its owner opens at the control plane, and its members: in this process, or as people run them. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import type { TestEdge } from "@catenet/testing/edge/TestEdge"
import { account, ask } from "@catenet/testing/server/channels/Asking"
import { keyOf, materialOf, seedOf } from "@catenet/testing/server/channels/ChannelsKeys"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, Redacted, References, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as RoomMember from "../../../agent/src/channel/room/RoomMember.ts"
import { AgentMetrics } from "../../../agent/src/observe/AgentMetrics.ts"
import { Events } from "../../../agent/src/observe/Events.ts"
import * as RoomSettings from "../../../agent/src/settings/RoomSettings.ts"

const bytesOf = (hex: string) => Result.getOrThrow(Hex.decode(hex, 32))
const owner = account("ada")

interface Pair {
  readonly a: string
  readonly b: string
  readonly channel: string
}

/** Opens the room of these words and makes its holders members; the pairs. */
export const open = Effect.fn("open")(function* (operator: string, words: ReadonlyArray<string>) {
  const wordOf = new Map(words.map((word) => [keyOf(word), word]))
  const { body, status } = yield* ask(owner, "/me/rooms", {
    operator_pubkey: keyOf(operator),
    holders: [...wordOf.keys()]
  })
  assert.strictEqual(status, 200)
  const pairs = (body["channels"] as ReadonlyArray<Pair>).map(({ a, b, channel }) => ({
    a: wordOf.get(a) ?? "",
    b: wordOf.get(b) ?? "",
    channel
  }))
  yield* Effect.forEach(
    pairs.flatMap(({ a, b, channel }) => [a, b].map((word) => ({ channel, word }))),
    ({ channel, word }) => ask(owner, `/me/channels/${channel}/members`, materialOf(channel, word)),
    { concurrency: 4, discard: true }
  )
  return pairs
})

const grantOf = (operator: string, { a, channel }: Pair, word: string, expiresAt: bigint) =>
  Grant.toHex(
    Grant.sign(native, seedOf(operator), {
      channel: bytesOf(channel),
      holder: bytesOf(keyOf(word)),
      direction: a === word ? "initiate" : "accept",
      rights: "rw",
      delegable: false,
      expiresAt
    })
  )

/** The lines of a member's file. */
export const grantsOf = (operator: string, pairs: ReadonlyArray<Pair>, word: string, expiresAt = 4_000_000_000n) =>
  pairs
    .filter(({ a, b }) => a === word || b === word)
    .map((pair) => {
      const peer = pair.a === word ? pair.b : pair.a
      return `${keyOf(peer)} ${grantOf(operator, pair, word, expiresAt)} ${peer}\n`
    })
    .join("")

/** The variables of a member that comes to this edge, whose grants are in the file `<word>.grants` of the folder. */
export const variablesOf = async (edge: TestEdge, folder: string, word: string, grants: string) => {
  const file = join(folder, `${word}.grants`)
  await writeFile(file, `# the room of ${word}\n\n${grants}`, { mode: 0o600 })
  return {
    CT_CHANNEL_GRANTS_FILE: file,
    CT_CHANNEL_HOLDER_KEY: Hex.encode(Redacted.value(seedOf(word))),
    CT_CHANNEL_NOISE_KEY: Hex.encode(native.sha256(Bytes.fromText(`noise ${word}`))),
    CT_CHANNEL_BROKER: `127.0.0.1:${edge.frontDoor}`,
    CT_CHANNEL_RELAY: `127.0.0.1:${edge.frontDoor}`,
    CT_CHANNEL_FRONT_DOOR: `127.0.0.1:${edge.frontDoor}`,
    CT_CHANNEL_FRONT_DOOR_CERT: new X509Certificate(edge.meshRoot).raw.toString("hex"),
    CT_CHANNEL_FRONT_DOOR_ONLY: "1",
    CT_AGENT_STATE_DIR: join(folder, `${word}.state`)
  }
}

export type Variables = Effect.Success<ReturnType<typeof settled>>
const settled = (...args: Parameters<typeof variablesOf>) => Effect.promise(() => variablesOf(...args))

/** A member in this process, for the life of the scope or until it is interrupted. */
export const stand = Effect.fn("stand")(function* (variables: Variables) {
  // Faults of the process are heard by one of them.
  const metrics: AgentMetrics["Service"] = { ...(yield* AgentMetrics), room: { pairs: undefined } }
  const standing = RoomSettings.read(undefined).pipe(
    Effect.flatMap((settings) => RoomMember.stand(settings, variables.CT_AGENT_STATE_DIR)),
    Effect.scoped,
    Effect.provide(Events.layer(variables.CT_AGENT_STATE_DIR)),
    Effect.provideService(AgentMetrics, metrics),
    Effect.provide([NodeFileSystem.layer, SecureRandom.layerWebCrypto]),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables)),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
  const fiber = yield* Effect.forkScoped(standing)
  return { metrics, leave: Fiber.interrupt(fiber) }
})
export type Standing = Effect.Success<ReturnType<typeof stand>>

/** Its pairs that have a session. */
export const inSession = ({ metrics }: Standing) =>
  (metrics.room.pairs ?? []).filter(({ state }) => state === "in-session").map(({ name }) => name)
