/**
 * The policy of the tunnel as this agent enforces it: fetched at the start, with each registration, when an edge says that it
 * has changed, and from time to time. It is kept beside the identity, so that an agent that starts while the control plane is away
 * enforces the last one that it knew; one that was not confirmed for too long lets nobody through a login.
 */
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import { merge } from "@catenet/domain/rules/Merge"
import type { Rules } from "@catenet/domain/rules/Rules"
import { TunnelPolicy } from "@catenet/domain/tunnels/TunnelPolicy"
import { UnixSeconds } from "@catenet/domain/values/Numbers"
import { clause } from "@catenet/domain/values/Sentence"
import { toUnixSeconds } from "@catenet/platform/UnixTime"
import { Clock, Deferred, Effect, FileSystem, Random, Schema } from "effect"
import * as PrivateFile from "../state/PrivateFile.ts"
import type { PolicyClient } from "./PolicyClient.ts"

/** Agents of one tunnel do not all ask in the same moment. */
const jitterMillis = 150
/** How often it is asked where some edge or carrier does not say when the policy changes. */
const pollMillis = 30_000
/** And where all of them do, in case that an order was lost. */
const confirmMillis = 600_000
const retryMillis = 1_000
const longestRetryMillis = 30_000
/** A confirmation without a change is written down when the file is this old. */
const rewriteSeconds = 600

const Stored = Schema.Struct({
  /** SHA-256 of the routing token that it was fetched with. */
  tunnel: Schema.String,
  etag: Schema.String,
  confirmed_at: UnixSeconds,
  policy: TunnelPolicy
})
export type Stored = typeof Stored.Type

const asJson = Schema.fromJsonString(Stored)
const decode = Schema.decodeUnknownEffect(asJson)
const encode = Schema.encodeEffect(asJson)

export interface Surroundings {
  readonly client: PolicyClient
  readonly file: PolicyFile
  /** SHA-256 of the routing token. */
  readonly tunnel: string
  readonly maxAgeSeconds: number
  /** Rules of the agent's own file: the stricter of both hold. */
  readonly rules?: Rules | undefined
}

/** What both demand; undefined where neither demands anything. */
const rulesOf = (own: Rules, policy: TunnelPolicy | undefined): Rules | undefined => {
  const rules = merge(policy?.rules ?? [], own)
  return rules.length === 0 ? undefined : rules
}

export class KeptPolicy {
  readonly #now: () => number
  readonly #maxAge: number
  readonly #listeners = new Set<(before: TunnelPolicy | undefined) => void>()
  #known: Stored | undefined
  /** An edge has passed a visitor on who has to log in, and no answer of the control plane since says otherwise. */
  #isGatedByEdge = false
  #silent = new Set<object>()
  #news: Deferred.Deferred<void> | undefined
  #isDue = false
  #isSettled = false
  readonly #own: Rules
  #rules: Rules | undefined
  readonly #first = Promise.withResolvers<void>()

  /** `now` in milliseconds; `ownRules` are those of the agent's own file. */
  constructor(now: () => number, maxAgeSeconds: number, ownRules: Rules = []) {
    this.#own = ownRules
    this.#rules = rulesOf(ownRules, undefined)
    this.#now = now
    this.#maxAge = maxAgeSeconds
  }

  get #seconds(): number {
    return toUnixSeconds(this.#now())
  }

  get policy(): TunnelPolicy | undefined {
    return this.#known?.policy
  }

  get stored(): Stored | undefined {
    return this.#known
  }

  /** Whether the policy was confirmed lately enough to let visitors through a login. */
  get isCurrent(): boolean {
    return this.#known !== undefined && Math.abs(this.#seconds - this.#known.confirmed_at) <= this.#maxAge
  }

  /** Whether visitors have to log in. */
  get isGated(): boolean {
    return this.#isGatedByEdge || this.#known?.policy.require_login === true
  }

  /** Whether visitors may speak only HTTP. */
  get isHttpOnly(): boolean {
    return this.isGated || this.#known?.policy.options.http_only === true || this.rules !== undefined
  }

  /** The rules for each request, if there are any. */
  get rules(): Rules | undefined {
    return this.#rules
  }

  /** Nothing is known yet, and the first answer is on its way. */
  get isAwaited(): boolean {
    return this.#known === undefined && !this.#isSettled
  }

  /** The access window, where it is closed now. */
  get closed(): { readonly window: AccessPolicy.AccessPolicy; readonly now: number } | undefined {
    const window = this.#known?.policy.access ?? null
    const now = this.#seconds
    return window === null || AccessPolicy.isOpen(window, now) ? undefined : { window, now }
  }

  /** Settled once there is a policy, or the first attempt to fetch one has failed. */
  get first(): Promise<void> {
    return this.#first.promise
  }

  /** There is an answer, or none. */
  settle(): void {
    this.#isSettled = true
    this.#first.resolve()
  }

  /** Calls back after each change, with the policy of before. */
  onChange(changed: (before: TunnelPolicy | undefined) => void): void {
    this.#listeners.add(changed)
  }

  /** An edge has passed on a visitor who has to log in. */
  gatedByEdge(): void {
    if (this.isGated) return
    this.#isGatedByEdge = true
    this.#tell(this.policy)
    this.ask()
  }

  /** An edge says that the policy is another; revision 0 is one that it does not know. */
  announced(revision: bigint): void {
    const known = this.#known?.policy.revision
    if (revision === 0n || known === undefined || BigInt(known) < revision) this.ask()
  }

  /** A registration: with `announces` its edge says when the policy changes. Returns how it ends. */
  joined(announces: boolean): () => void {
    const registration = {}
    if (!announces) this.#silent.add(registration)
    this.ask()
    return () => void this.#silent.delete(registration)
  }

  /** Has it fetched soon. */
  ask(): void {
    this.#isDue = true
    if (this.#news !== undefined) Deferred.doneUnsafe(this.#news, Effect.void)
  }

  /** Waits until it is due: at once where it was asked for. */
  get due(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.#news = yield* Deferred.make<void>()
      const rest = this.#silent.size > 0 ? pollMillis : confirmMillis
      if (!this.#isDue) yield* Effect.timeoutOption(Deferred.await(this.#news), rest)
    })
  }

  /** A fetch begins: what is asked for from now on is another one. */
  begins(): void {
    this.#isDue = false
  }

  restore(stored: Stored): void {
    this.#known = stored
    this.#rules = rulesOf(this.#own, stored.policy)
    this.settle()
  }

  /** The control plane has answered; without a policy it is as it was. */
  confirmed(tunnel: string, fetched?: { readonly policy: TunnelPolicy; readonly etag: string }): void {
    const before = this.#known
    const next = fetched ?? before
    if (next === undefined) return
    const { etag, policy } = next
    this.#known = { tunnel, etag, policy, confirmed_at: UnixSeconds.make(this.#seconds) }
    this.#rules = rulesOf(this.#own, policy)
    this.settle()
    const wasGatedByEdge = this.#isGatedByEdge
    if (!this.#isDue) this.#isGatedByEdge = false
    if (policy !== before?.policy || wasGatedByEdge) this.#tell(before?.policy)
  }

  #tell(before: TunnelPolicy | undefined): void {
    for (const changed of this.#listeners) changed(before)
  }
}

/** Where the policy is kept between two starts; a file that cannot be read is none. */
export interface PolicyFile {
  readonly read: Effect.Effect<Stored | undefined>
  readonly write: (stored: Stored) => Effect.Effect<void>
}

/** A private file beside the identity. */
export const fileIn = (stateDir: string) =>
  Effect.map(FileSystem.FileSystem, (fs): PolicyFile => {
    const path = `${stateDir}/policy.json`
    const here = Effect.provideService(FileSystem.FileSystem, fs)
    return {
      read: PrivateFile.read(path).pipe(
        Effect.flatMap((bytes) => (bytes === undefined ? Effect.undefined : decode(new TextDecoder().decode(bytes)))),
        // It is asked for again; a gated host is closed until it is there.
        Effect.orElseSucceed(() => undefined),
        here
      ),
      write: (stored) =>
        Effect.gen(function* () {
          yield* PrivateFile.folder(stateDir)
          yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(`${yield* encode(stored)}\n`) }])
        }).pipe(
          Effect.catch(({ message }) =>
            Effect.logWarning(`the policy of the tunnel could not be kept for the next start: ${clause(message)}`)
          ),
          here
        )
    }
  })

/** Restores the kept policy and keeps it current until the scope ends. */
export const make = Effect.fnUntraced(function* (surroundings: Surroundings) {
  const { client, file, maxAgeSeconds, rules, tunnel } = surroundings
  const clock = yield* Clock.Clock
  const kept = new KeptPolicy(() => clock.currentTimeMillisUnsafe(), maxAgeSeconds, rules)
  const stored = yield* file.read
  if (stored?.tunnel === tunnel) kept.restore(stored)
  let isAbsent = false

  const fetchOnce = Effect.fnUntraced(function* () {
    const before = kept.stored
    kept.begins()
    const fetched = yield* client.fetch(before?.etag)
    if (fetched._tag === "Absent") {
      if (!isAbsent) yield* Effect.logInfo(`the policy of this tunnel is not known: ${clause(fetched.why)}`)
      isAbsent = true
      return
    }
    isAbsent = false
    kept.confirmed(tunnel, fetched._tag === "Changed" ? fetched : undefined)
    const { stored } = kept
    if (stored === undefined) return
    const isOld = stored.confirmed_at - (before?.confirmed_at ?? 0) >= rewriteSeconds
    if (fetched._tag === "Changed" || isOld) yield* file.write(stored)
  })

  const fetched = Effect.gen(function* () {
    yield* Effect.sleep(yield* Random.nextBetween(0, jitterMillis))
    let pause = retryMillis
    while (true) {
      const result = yield* Effect.result(fetchOnce())
      kept.settle()
      if (result._tag === "Success") return
      yield* Effect.logDebug(`the policy of the tunnel could not be fetched: ${clause(result.failure.message)}`)
      yield* Effect.sleep(pause * (yield* Random.nextBetween(0.75, 1.25)))
      pause = Math.min(pause * 2, longestRetryMillis)
    }
  })

  kept.ask()
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(kept.due, fetched)))
  return kept
})
