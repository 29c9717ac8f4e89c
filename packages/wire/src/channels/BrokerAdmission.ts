/**
 * The edge's side of a member's admission (data-plane 7.2 and 8.4): bytes of the member and the answer of the control plane in, bytes
 * to send and one verdict out. It knows no stream and no clock, so every carrier moves it in the same way.
 */
import * as Address from "@catenet/crypto/admission/Address"
import * as Join from "@catenet/crypto/admission/Join"
import * as Possession from "@catenet/crypto/admission/Possession"
import * as Refusal from "@catenet/crypto/admission/Refusal"
import * as RelayGate from "@catenet/crypto/admission/RelayGate"
import * as Bytes from "@catenet/crypto/Bytes"
import * as Grant from "@catenet/crypto/Grant"
import type { Seconds } from "@catenet/crypto/Integer"
import type { Suite } from "@catenet/crypto/Suite"
import { Result } from "effect"
import * as Equal from "effect/Equal"

// What the address that a member advertises is worth beside the one it is seen from (signed-bytes 6.3). Pure.

/** `mismatch` alone contradicts: same family, and the observed address is one that strangers can reach. */
type Attested = "matches" | "cross_family" | "mismatch" | "no_address" | "unobservable"

export const attest = (endpoint: string, observed: string | undefined): Attested => {
  const advertised = Address.parse(endpoint)
  if (Result.isFailure(advertised)) return "no_address"
  const seen = observed === undefined ? undefined : Result.getOrUndefined(Address.parse(observed))
  if (seen === undefined || !Address.isGlobal(seen.address)) return "unobservable"
  if (seen.address._tag !== advertised.success.address._tag) return "cross_family"
  return Equal.equals(seen.address, advertised.success.address) ? "matches" : "mismatch"
}

/** What the control plane knows of a member. */
export interface MemberAuthorization {
  readonly operatorKey: Uint8Array
  /** The member's Noise key with its attestation; absent when it has registered none. */
  readonly noise: { readonly key: Uint8Array; readonly attestation: Uint8Array } | undefined
}

/** What members say first: a join at the broker, their grant alone at the relay gate (signed-bytes 6.11). */
export type First = "join" | "grant"

/** `no`: the holder is no member. `unknown`: the control plane could not be asked. */
export type MemberAnswer = MemberAuthorization | "no" | "unknown"

export interface AdmissionOptions {
  readonly suite: Suite
  readonly first: First
  /** Whether this carrier's members may say the phase first. */
  readonly marked: boolean
  /** The phase of everyone on a port that has one, whatever they say. */
  readonly phase: Join.Phase | undefined
  /** The member's address as the edge sees it, `ip:port`. */
  readonly observed: string | undefined
  /** Refuse an advertised address that contradicts the observed one. */
  readonly requireAttested: boolean
  /** Whether a grant holds, where no operator key is named; otherwise the named key must have signed it. */
  readonly holds?: (grant: Grant.Grant, now: Seconds) => boolean
  /** 32 random bytes, asked for once. */
  readonly challenge: () => Uint8Array
}

/** The category of a refusal. */
export type Category = Refusal.Token | typeof Refusal.unavailable

export type Verdict =
  | {
      readonly _tag: "Admitted"
      readonly join: Join.Join
      readonly authorization: MemberAuthorization
      /** Bytes behind the signature: they belong to the session. */
      readonly early: Uint8Array
    }
  | {
      readonly _tag: "Refused"
      readonly category: Category
      /** Whether it counts against the source. */
      readonly counts: boolean
      /** To be sent, with the end of the stream right behind. */
      readonly bytes: Uint8Array
      readonly join: Join.Join | undefined
    }
  /** The connection is closed without a word. */
  | { readonly _tag: "Dropped"; readonly counts: boolean }

export type Step =
  /** Push more bytes, or `end`. */
  | { readonly _tag: "Read" }
  /** Call `answered` with what the control plane says; no byte is read before. */
  | { readonly _tag: "Ask"; readonly channel: Uint8Array; readonly holder: Uint8Array }
  /** Send the bytes, then `push` what comes. */
  | { readonly _tag: "Challenge"; readonly bytes: Uint8Array }
  | Verdict

type State =
  | { readonly at: "join" }
  | { readonly at: "asking"; readonly join: Join.Join }
  | {
      readonly at: "possession"
      readonly join: Join.Join
      readonly authorization: MemberAuthorization
      readonly challenge: Uint8Array
    }
  | { readonly at: "over"; readonly verdict: Verdict }

const signatureLength = 64
const none = new Uint8Array(0)
const unmarkedMark = 0xff

/** An endpoint that is longer is no address and would not fit into the acknowledgement of the peer. */
const longestEndpoint = 64

const countsAgainst: ReadonlySet<Category> = new Set(["not-member", "possession"])

export class BrokerAdmission {
  readonly #options: AdmissionOptions
  #state: State = { at: "join" }
  #held: Uint8Array = none
  #attested: Attested | undefined

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** What the advertised endpoint was worth; known once the join was read whole. */
  get attested(): Attested | undefined {
    return this.#attested
  }

  /** Takes what the member sent. */
  push(bytes: Uint8Array): Step {
    this.#held = this.#held.length === 0 ? bytes : Bytes.concat(this.#held, bytes)
    switch (this.#state.at) {
      case "join":
        return this.#options.first === "join" ? this.#readJoin() : this.#readGrant()
      case "asking":
        return { _tag: "Read" }
      case "possession":
        return this.#readPossession(this.#state)
      case "over":
        return this.#state.verdict
    }
  }

  /** The member has ended its side, or its time is over: closed without a frame. */
  end(): Verdict {
    return this.#state.at === "over" ? this.#state.verdict : this.#over({ _tag: "Dropped", counts: false })
  }

  /** Takes the control plane's answer to `Ask`. */
  answered(answer: MemberAnswer, now: Seconds): Step {
    if (this.#state.at !== "asking") return this.#state.at === "over" ? this.#state.verdict : { _tag: "Read" }
    const { join } = this.#state
    if (answer === "no") return this.#refuse("not-member", join)
    if (answer === "unknown") return this.#refuse(Refusal.unavailable, join)
    const { holds, suite } = this.#options
    const isHeld =
      holds?.(join.grant, now) ?? Result.isSuccess(Grant.verify(suite, join.grant, answer.operatorKey, now))
    if (!isHeld) return this.#refuse("grant-verify", join)
    const challenge = this.#options.challenge()
    this.#state = { at: "possession", join, authorization: answer, challenge }
    return { _tag: "Challenge", bytes: challenge }
  }

  #readJoin(): Step {
    const { marked, observed, phase, requireAttested } = this.#options
    if (!marked && this.#held[0] === unmarkedMark) return this.#refuse("len-oob", undefined)
    const read = Join.read(this.#held)
    if (Result.isFailure(read)) {
      if (read.failure._tag === "Incomplete") return { _tag: "Read" }
      if (read.failure.unknownPhase) return this.#over({ _tag: "Dropped", counts: true })
      return this.#refuse(read.failure.token, undefined)
    }
    this.#held = this.#held.subarray(read.success.length)
    const join = phase === undefined ? read.success.join : { ...read.success.join, phase }
    const { endpoint, grant } = join
    if (endpoint.length > longestEndpoint || !Address.isAdmissible(endpoint)) return this.#refuse("endpoint", join)
    this.#attested = attest(endpoint, observed)
    if (requireAttested && this.#attested === "mismatch") return this.#refuse("endpoint", join)
    this.#state = { at: "asking", join }
    return { _tag: "Ask", channel: grant.channel, holder: grant.holder }
  }

  #readGrant(): Step {
    const read = RelayGate.readGrant(this.#held)
    if (Result.isFailure(read))
      return read.failure._tag === "Incomplete" ? { _tag: "Read" } : this.#refuse("malformed", undefined)
    const { grant, length } = read.success
    this.#held = this.#held.subarray(length)
    this.#state = { at: "asking", join: { grant, endpoint: Address.relayOnly, phase: undefined } }
    return { _tag: "Ask", channel: grant.channel, holder: grant.holder }
  }

  #readPossession({ authorization, challenge, join }: Extract<State, { at: "possession" }>): Step {
    if (this.#held.length < signatureLength) return { _tag: "Read" }
    const signature = this.#held.subarray(0, signatureLength)
    if (!Possession.verify(this.#options.suite, join.grant.holder, challenge, signature))
      return this.#refuse("possession", join)
    return this.#over({ _tag: "Admitted", join, authorization, early: Bytes.copy(this.#held, signatureLength) })
  }

  #refuse(category: Category, join: Join.Join | undefined): Verdict {
    const bytes = Refusal.encode(category)
    return this.#over({ _tag: "Refused", category, counts: countsAgainst.has(category), bytes, join })
  }

  #over(verdict: Verdict): Verdict {
    this.#state = { at: "over", verdict }
    this.#held = none
    return verdict
  }
}
