/** A room: a channel for every two of its holders. Opening a room again adds the channels that are missing. */
import { Result } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { HolderKey } from "../values/Keys.ts"
import { step, type Step } from "../values/Step.ts"
import { type ChannelId, maxRoomHolders, minRoomHolders, type RoomPair } from "./Channel.ts"
import { HolderRepeated, RoomPairTaken, RoomSizeOutOfRange } from "./ChannelErrors.ts"
import type { StoredChannel } from "./ChannelOperator.ts"

/**
 * Every two of the holders, in their order.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { pairsOf } from "@catenet/domain/channels/Room"
 *
 * const [x, y, z] = ["1".repeat(64), "2".repeat(64), "3".repeat(64)]
 * assert.deepEqual(Result.getOrThrow(pairsOf([x, y, z])), [[x, y], [x, z], [y, z]])
 * assert.ok(Result.isFailure(pairsOf([x, y, x])))
 * ```
 */
export const pairsOf = (
  holders: ReadonlyArray<HolderKey>
): Result.Result<ReadonlyArray<readonly [HolderKey, HolderKey]>, HolderRepeated | RoomSizeOutOfRange> => {
  if (holders.length < minRoomHolders || holders.length > maxRoomHolders)
    return Result.fail(new RoomSizeOutOfRange({ holders: holders.length }))
  const repeated = holders.find((holder, n) => holders.indexOf(holder) !== n)
  if (repeated !== undefined) return Result.fail(new HolderRepeated({ holder: repeated }))
  return Result.succeed(holders.flatMap((a, n) => holders.slice(n + 1).map((b) => [a, b] as const)))
}

/**
 * Opens a room of these pairs; `stored` has those of their channels that are registered. The next state is the channels
 * to register.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { open } from "@catenet/domain/channels/Room"
 *
 * const pairs = [{ a: "1".repeat(64), b: "2".repeat(64), channel: "c" }]
 * const room = { owner: "ada", operatorPubkey: "k" }
 * assert.deepEqual(Result.getOrThrow(open(pairs, new Map(), room)).next, ["c"])
 * assert.deepEqual(Result.getOrThrow(open(pairs, new Map([["c", room]]), room)), { next: [], effects: [] })
 * assert.ok(Result.isFailure(open(pairs, new Map([["c", { ...room, owner: "bob" }]]), room)))
 * ```
 */
export const open = (
  pairs: ReadonlyArray<RoomPair>,
  stored: ReadonlyMap<ChannelId, StoredChannel>,
  { operatorPubkey, owner }: StoredChannel
): Result.Result<Step<ReadonlyArray<ChannelId>, Audit>, RoomPairTaken> => {
  const fresh: Array<ChannelId> = []
  for (const { a, b, channel } of pairs) {
    const known = stored.get(channel)
    if (known === undefined) fresh.push(channel)
    else if (known.owner !== owner || known.operatorPubkey !== operatorPubkey)
      return Result.fail(new RoomPairTaken({ a, b }))
  }
  return fresh.length === 0
    ? step<ReadonlyArray<ChannelId>, Audit>(fresh)
    : step<ReadonlyArray<ChannelId>, Audit>(
        fresh,
        audit("room_opened", owner, operatorPubkey, `channels=${fresh.length}`)
      )
}
