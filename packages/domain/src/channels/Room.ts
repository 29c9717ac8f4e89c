/** A room: a channel for every two of its holders. Opening a room again adds the channels that are missing. */
import { Result } from "effect"
import { audit, type Audit } from "../values/AuditEffect.ts"
import type { HolderKey } from "../values/Keys.ts"
import { step, type Step } from "../values/Step.ts"
import { type ChannelId, maxRoomHolders, minRoomHolders, type RoomPair } from "./Channel.ts"
import { HolderRepeated, RoomPairTaken, RoomSizeOutOfRange } from "./ChannelErrors.ts"
import { type StoredChannel, takenOver, yieldsTo } from "./ChannelOperator.ts"

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

/** The channels that a room registers, and those of them that it takes over. */
export interface RoomChannels {
  readonly fresh: ReadonlyArray<ChannelId>
  readonly taken: ReadonlyArray<ChannelId>
}

/**
 * Opens a room of these pairs; `stored` has those of their channels that are registered. The ids of a room are derived, so
 * with a proof of its key (`derived`) it takes over what other accounts have registered without one.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { Result } from "effect"
 * import { open } from "@catenet/domain/channels/Room"
 *
 * const pairs = [{ a: "1".repeat(64), b: "2".repeat(64), channel: "c" }]
 * const room = { owner: "ada", operatorPubkey: "k", proof: "none" }
 * assert.deepEqual(Result.getOrThrow(open(pairs, new Map(), room)).next, { fresh: ["c"], taken: [] })
 * assert.deepEqual(Result.getOrThrow(open(pairs, new Map([["c", room]]), room)).effects, [])
 * assert.ok(Result.isFailure(open(pairs, new Map([["c", { ...room, owner: "bob" }]]), room)))
 * ```
 */
export const open = (
  pairs: ReadonlyArray<RoomPair>,
  stored: ReadonlyMap<ChannelId, StoredChannel>,
  room: StoredChannel
): Result.Result<Step<RoomChannels, Audit>, RoomPairTaken> => {
  const { operatorPubkey, owner } = room
  const fresh: Array<ChannelId> = []
  const taken: Array<ChannelId> = []
  const entries: Array<Audit> = []
  for (const { a, b, channel } of pairs) {
    const known = stored.get(channel)
    if (known === undefined) fresh.push(channel)
    else if (known.owner !== owner && yieldsTo(known, room)) {
      taken.push(channel)
      entries.push(...takenOver(known, room, channel))
    } else if (known.owner !== owner || known.operatorPubkey !== operatorPubkey)
      return Result.fail(new RoomPairTaken({ a, b }))
  }
  if (fresh.length > 0) entries.push(audit("room_opened", owner, operatorPubkey, `channels=${fresh.length}`))
  return step<RoomChannels, Audit>({ fresh, taken }, ...entries)
}
