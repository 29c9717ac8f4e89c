/**
 * The agent's half of the TLS-TCP carrier (data-plane 5.1 to 5.3): registers one connection as a slot, answers the
 * edge's pings while it waits, and hands the connection out when a client comes.
 */
import { Data, Result } from "effect"
import type { Duplex } from "node:stream"
import { type Decoding, decoded, needMore } from "../frames/Frame.ts"
import { decodePark, encodePong, type ParkFrame } from "../frames/ParkPing.ts"
import { type BrowserSlot, decodeReply, encodeAdmission, type MeshSlot } from "../frames/Role.ts"
import { FramedStream } from "./FramedStream.ts"
import { type FrameMissing, FrameReader } from "./FrameReader.ts"

/** The edge took no slot. `no` stands for revoked, full and host refused alike: the protocol cannot tell them apart. */
export class SlotRefused extends Data.TaggedError("SlotRefused")<{
  readonly reason: "no" | FrameMissing["reason"]
}> {}

/** A waiting slot is gone: the connection closed, or the edge sent what does not belong there. */
export class SlotLost extends Data.TaggedError("SlotLost")<{
  readonly reason: FrameMissing["reason"]
}> {}

export interface AgentSlot {
  /** The client's stream, from its first byte; framed relays come unwrapped. */
  readonly taken: Promise<Result.Result<Duplex, SlotLost>>
  /** Gives a waiting slot up. */
  readonly close: () => void
}

/** Any byte begins the relay of a silent slot; it is not consumed. */
const firstByte = (bytes: Uint8Array): Decoding<ParkFrame> =>
  bytes.length > 0 ? decoded({ _tag: "Stop" }, 0) : needMore

/** Resolves when the stream takes bytes again, or never will. A peer that pings and does not read is not read either. */
const writable = (stream: Duplex): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (stream.destroyed || !stream.writableNeedDrain) resolve()
  stream.once("drain", resolve)
  stream.once("close", resolve)
  return promise.finally(() => {
    stream.off("drain", resolve)
    stream.off("close", resolve)
  })
}

const wait = async (stream: Duplex, reader: FrameReader, role: (MeshSlot | BrowserSlot)["role"]) => {
  const decode = role === "A" || role === "B" ? firstByte : decodePark
  for (;;) {
    const frame = await reader.next(decode)
    if (Result.isSuccess(frame) && frame.success._tag === "Ping") {
      if (!stream.write(encodePong(frame.success.counter))) await writable(stream)
      continue
    }
    const raw = reader.release()
    if (Result.isSuccess(frame) && frame.success._tag === "Stop") {
      return Result.succeed(role === "F" ? new FramedStream(raw) : raw)
    }
    raw.destroy()
    return Result.fail(new SlotLost({ reason: Result.isFailure(frame) ? frame.failure.reason : "malformed" }))
  }
}

/** Sends the admission and waits for its answer; after a refusal the connection is closed. */
export const parkAgentSlot = async (
  stream: Duplex,
  admission: MeshSlot | BrowserSlot,
  { replyMillis = 10_000 }: { readonly replyMillis?: number } = {}
): Promise<Result.Result<AgentSlot, SlotRefused>> => {
  const reader = new FrameReader(stream)
  stream.write(encodeAdmission(admission))
  const reply = await reader.next(decodeReply, replyMillis)
  if (Result.isFailure(reply) || !reply.success) {
    reader.release()
    stream.destroy()
    return Result.fail(new SlotRefused({ reason: Result.isFailure(reply) ? reply.failure.reason : "no" }))
  }
  return Result.succeed({ taken: wait(stream, reader, admission.role), close: () => stream.destroy() })
}
