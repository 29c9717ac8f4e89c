/**
 * Members as streams of one multiplexed session between two processes or two edges: one side brings them, the other has the
 * room. A stream that breaks is reset, so that the room learns of a member's death however it came.
 */
import type { CarrierSession, CarrierStream } from "@catenet/wire/transport/Carrier"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Effect, Result } from "effect"
import type { Duplex } from "node:stream"
import type { Relays } from "../relay/Relays.ts"
import type { Member } from "./Member.ts"
import * as MemberHandover from "./MemberHandover.ts"

const factsMillis = 5_000

/** Takes over the stream of a member; `early` came behind its signature. */
export type Enter = (stream: Duplex, member: Member, early: Uint8Array) => Effect.Effect<void>

/** Brings the member to the other side. False when that takes no stream; the member's is then untouched. */
export const bring = Effect.fnUntraced(function* (
  session: CarrierSession,
  relays: Relays["Service"],
  ...[stream, member, early]: Parameters<Enter>
) {
  const opened = session.open({ registration: 0, kind: "mesh", tls: "none" })
  if (Result.isFailure(opened)) return false
  opened.success.write(MemberHandover.encode(member))
  if (early.length > 0) opened.success.write(early)
  yield* relays.pass(stream, opened.success)
  return true
})

const noBytes = new Uint8Array(0)

/** Takes a member that the other side brings. */
export const take = Effect.fnUntraced(function* (stream: CarrierStream, enter: Enter) {
  const reader = new FrameReader(stream)
  const read = yield* Effect.promise(() => reader.next<Member>(MemberHandover.decode, factsMillis))
  reader.release()
  if (Result.isFailure(read)) return stream.reset("refused", "these are no facts of a member")
  return yield* enter(stream, read.success, noBytes)
})
