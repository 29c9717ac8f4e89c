/**
 * The edge's half of the TLS-TCP carrier (data-plane 5.1 to 5.3): reads what a connection wants to be, keeps a waiting
 * slot alive by pings, and proves it alive once more before a client is handed to it.
 */
import { Data, Result } from "effect"
import type { Duplex } from "node:stream"
import { type Decoding, decoded, malformed, needMore } from "../frames/Frame.ts"
import { encodePing, pongByte, stopFrame } from "../frames/ParkPing.ts"
import {
  type Admission,
  type AdmissionHead,
  admittedReply,
  decodeAdmission,
  decodeAdmissionHead,
  refusedReply,
  type SlotRole
} from "../frames/Role.ts"
import { guarded, type OnFault } from "./FaultBoundary.ts"
import { FramedStream } from "./FramedStream.ts"
import { type FrameMissing, FrameReader } from "./FrameReader.ts"
import { monotonicMillis } from "./MonotonicClock.ts"
import { closingMillis } from "./SessionTimers.ts"

/** No admission; `full` when the caller had no room, which was answered with `NO`. Otherwise nothing was answered. */
export class AdmissionFailed extends Data.TaggedError("AdmissionFailed")<{
  readonly reason: "full" | FrameMissing["reason"]
  readonly detail: string
}> {}

/** The slot cannot take a client; try the next one. */
export class SlotDead extends Data.TaggedError("SlotDead")<{
  readonly reason: "taken" | "silent" | "closed"
}> {}

/** `NO` also closes the connection in order. */
export const answerAdmission = (stream: Duplex, admitted: boolean): void => {
  if (admitted) stream.write(admittedReply)
  else stream.end(refusedReply)
}

const peekHead = (bytes: Uint8Array): Decoding<AdmissionHead> =>
  Result.map(decodeAdmissionHead(bytes), ({ value }) => ({ value, size: 0 }))

/**
 * Reads one admission frame; the stream is given back paused. Nothing is answered, except `NO` when `acceptHead` finds
 * no room for the role, which is asked before a host is read.
 */
export const readAdmission = async (
  stream: Duplex,
  options: { readonly timeoutMillis?: number; readonly acceptHead?: (head: AdmissionHead) => boolean } = {}
): Promise<Result.Result<Admission, AdmissionFailed>> => {
  const { acceptHead = () => true, timeoutMillis = 10_000 } = options
  const deadline = monotonicMillis() + timeoutMillis
  const reader = new FrameReader(stream)
  const head = await reader.next(peekHead, timeoutMillis)
  const room = Result.isFailure(head) || acceptHead(head.success)
  const admission =
    Result.isSuccess(head) && room ? await reader.next(decodeAdmission, deadline - monotonicMillis()) : undefined
  reader.release()
  if (!room) {
    answerAdmission(stream, false)
    return Result.fail(new AdmissionFailed({ reason: "full", detail: "" }))
  }
  if (admission !== undefined && Result.isSuccess(admission)) return Result.succeed(admission.success)
  const failure = Result.isFailure(head) ? head.failure : admission?.failure
  return Result.fail(new AdmissionFailed({ reason: failure?.reason ?? "closed", detail: failure?.detail ?? "" }))
}

/** Only the first byte of an answer is judged. */
const anyPong = (bytes: Uint8Array): Decoding<void> => {
  const [kind] = bytes
  if (kind !== undefined && kind !== pongByte) return malformed("not a pong")
  return bytes.length < 9 ? needMore : decoded(undefined, 9)
}

/** A silent slot must send nothing before its client does: its bytes would be taken for an answer. */
const anyByte = (bytes: Uint8Array): Decoding<void> => (bytes.length > 0 ? decoded(undefined, 0) : needMore)

export class EdgeSlot {
  readonly role: SlotRole
  /** Resolves when the slot can no longer be delivered to, other than by having been taken. */
  readonly lost: Promise<void>
  readonly #stream: Duplex
  readonly #reader: FrameReader
  readonly #pongMillis: number
  readonly #resolveLost: () => void
  #state: "parked" | "delivering" | "taken" | "lost" = "parked"
  #counter = 0n
  #trip: Promise<boolean> | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #onFault: OnFault | undefined

  /** Takes over a connection whose admission was answered with `OK`. */
  constructor(
    stream: Duplex,
    role: SlotRole,
    options: { readonly pingMillis?: number; readonly pongMillis?: number; readonly onFault?: OnFault } = {}
  ) {
    const { onFault, pingMillis = 8_000, pongMillis = 5_000 } = options
    this.#onFault = onFault
    const lost = Promise.withResolvers<void>()
    this.role = role
    this.lost = lost.promise
    this.#resolveLost = lost.resolve
    this.#stream = stream
    this.#pongMillis = pongMillis
    let attached = false
    this.#reader = new FrameReader(stream, () => {
      if (attached) this.#lose()
    })
    attached = true
    // The park ping on a raw socket; ends with the slot.
    this.#timer = this.#pings ? setInterval(() => void this.#prove().catch(this.#fault), pingMillis).unref() : undefined
    if (this.#reader.ended) this.#lose()
    else if (this.#pings) this.#reader.watch()
    else void this.#reader.next(anyByte).then(guarded(this.#fault, () => this.close()))
  }

  /** `onFault` receives what a timer or an answer threw; the slot is then lost. */
  readonly #fault: OnFault = (error) => {
    this.#onFault?.(error)
    this.#stream.destroy()
  }

  get state(): "parked" | "delivering" | "taken" | "lost" {
    return this.#state
  }

  /** Proves the slot alive and hands its stream out, once. A slot that fails is closed. */
  async deliver(): Promise<Result.Result<Duplex, SlotDead>> {
    if (this.#state !== "parked") {
      return Result.fail(new SlotDead({ reason: this.#state === "lost" ? "closed" : "taken" }))
    }
    this.#state = "delivering"
    const alive = this.#pings ? await this.#prove() : this.#reader.held === 0 && !this.#reader.ended
    if (!alive || this.#stream.destroyed) {
      this.#lose()
      return Result.fail(new SlotDead({ reason: "silent" }))
    }
    this.#state = "taken"
    clearInterval(this.#timer)
    const raw = this.#reader.release()
    if (!this.#pings) return Result.succeed(raw)
    raw.write(stopFrame)
    return Result.succeed(this.role === "F" ? new FramedStream(raw) : raw)
  }

  /** Closes a waiting slot in order. */
  close(): void {
    if (this.#state !== "taken") this.#lose()
  }

  get #pings(): boolean {
    return this.role === "K" || this.role === "L" || this.role === "F"
  }

  /** One round trip; a client that comes during it shares it. */
  #prove(): Promise<boolean> {
    this.#trip ??= this.#roundTrip().finally(() => {
      this.#trip = undefined
    })
    return this.#trip
  }

  async #roundTrip(): Promise<boolean> {
    // What comes unasked is not an answer.
    const quiet = this.#reader.held === 0
    if (quiet) this.#stream.write(encodePing(this.#counter))
    const pong = quiet ? await this.#reader.next(anyPong, this.#pongMillis) : undefined
    if (pong !== undefined && Result.isSuccess(pong)) {
      this.#counter++
      this.#reader.watch()
      return true
    }
    this.#lose()
    return false
  }

  #lose(): void {
    if (this.#state === "lost" || this.#state === "taken") return
    this.#state = "lost"
    clearInterval(this.#timer)
    this.#reader.release().resume()
    this.#stream.end()
    // Bounds the orderly close of a peer that may be gone.
    const destroy = setTimeout(() => this.#stream.destroy(), closingMillis).unref()
    this.#stream.once("close", () => clearTimeout(destroy))
    this.#resolveLost()
  }
}
