/**
 * The certificate and key for TLS termination. Checked when a connection arrives and the last check is 30 seconds old (or a
 * twentieth of a short lifetime): a changed pair is loaded, an unusable one is logged once and the old one kept. If the pair is
 * still to be ordered, every connection checks, so that the first visitor after issuance is served.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { createSecureContext } from "@catenet/platform/Sockets"
import type { CertificateState } from "@catenet/wire/frames/MuxCertificate"
import { serverTls } from "@catenet/wire/transport/ServerTls"
import { Clock, Effect, FileSystem, Option } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"

// Reports the certificate's status to the edges: with each registration, and at every change. Older edges ignore it.

/** One registration. */
interface Listener {
  readonly heeds: boolean
  /** Resolves when the edge has read it or is gone. */
  readonly say: (state: CertificateState) => Promise<unknown>
}

/** A slow edge does not delay an order longer than this. */
const readMillis = 3_000

export class CertificateReport {
  readonly #listeners = new Set<Listener>()
  #state: CertificateState | undefined

  get state(): CertificateState | undefined {
    return this.#state
  }

  /** Whether every edge routes validations to the agent with the open order. */
  get isHeeded(): boolean {
    for (const { heeds } of this.#listeners) if (!heeds) return false
    return this.#listeners.size > 0
  }

  /** `said` is the status in the registration. Returns the function to unregister. */
  join(listener: Listener, state: CertificateState | undefined): () => void {
    this.#listeners.add(listener)
    if (this.#state !== undefined && this.#state !== state) void listener.say(this.#state)
    return () => void this.#listeners.delete(listener)
  }

  /** Reports a changed status, and waits until the edges have read it. */
  report(state: CertificateState): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { certificate, order } = this.#state ?? {}
      if (certificate === state.certificate && order === state.order) return Effect.void
      this.#state = state
      const read = Effect.promise(() => Promise.all(Array.from(this.#listeners, ({ say }) => say(state))))
      return Effect.ignore(Effect.timeoutOption(read, readMillis))
    })
  }
}

export interface Files {
  readonly certificate: string
  readonly key: string
  /** Whether the pair may be created later: it is the one that this agent orders. */
  readonly isAwaited: boolean
}

const longestLook = 30_000

const { of } = ConfigurationInvalid

/** Whether one of the two files is not there yet, and may be so. */
export const isMissing = Effect.fnUntraced(function* ({ certificate, isAwaited, key }: Files) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* Effect.forEach([certificate, key], (path) => Effect.orElseSucceed(fs.exists(path), () => false))
  return isAwaited && !found.every(Boolean)
})

/** Loads the pair and its leaf, or describes in one sentence which file is wrong and what to do. */
export const load = Effect.fn("CertificatePair.load")(function* ({ certificate, key }: Omit<Files, "isAwaited">) {
  const fs = yield* FileSystem.FileSystem
  const read = (variable: string, path: string) =>
    Effect.mapError(fs.readFile(path), () =>
      of(`${variable}: ${path}`, "cannot be read", "correct the variable, or make the file readable for this user")
    )
  const cert = Buffer.from(yield* read("CT_AGENT_TLS_CERT", certificate))
  const pem = Buffer.from(yield* read("CT_AGENT_TLS_KEY", key))
  const leaf = yield* Effect.try({
    try: () => new X509Certificate(cert),
    catch: () =>
      of("CT_AGENT_TLS_CERT:", `there is no certificate in ${certificate}`, "it must be a PEM chain, leaf first")
  })
  const secret = yield* Effect.try({
    try: () => createPrivateKey(pem),
    catch: () => of("CT_AGENT_TLS_KEY:", `there is no private key in ${key}`, "it must be PEM without a passphrase")
  })
  if (!leaf.checkPrivateKey(secret))
    return yield* of(
      "CT_AGENT_TLS_KEY:",
      `the key in ${key} does not belong to the first certificate in ${certificate}`
    )
  const context = yield* Effect.try({
    try: () => createSecureContext({ cert, key: pem, ...serverTls }),
    catch: (error) => of(`CT_AGENT_TLS_CERT: ${certificate}`, `cannot be used: ${String(error)}`)
  })
  return { context, leaf }
})

/** A pair in use. One that lives for minutes has a successor before a look at it is 30 seconds old. */
const inUse = ({ context, leaf }: Effect.Success<ReturnType<typeof load>>) => {
  const endsAt = leaf.validToDate.getTime()
  return { context, endsAt, lookMillis: Math.min(longestLook, (endsAt - leaf.validFromDate.getTime()) / 20) }
}

/** The pair as it is now; undefined while it is awaited. Fails only now, at the first load. */
export const watch = Effect.fn("CertificatePair.watch")(function* (files: Files) {
  const fs = yield* FileSystem.FileSystem
  const age = Effect.forEach([files.certificate, files.key], (path) =>
    Effect.map(fs.stat(path), ({ mtime }) => Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() }))
  ).pipe(
    Effect.map((times) => times.join()),
    Effect.orElseSucceed(() => "missing")
  )
  const read = Effect.map(Effect.provideService(load(files), FileSystem.FileSystem, fs), inUse)
  let loaded = yield* age
  let pair = (yield* isMissing(files)) ? undefined : yield* read
  let lookedAt = yield* Clock.currentTimeMillis
  let complained = false
  let warnedOfEnd = false
  const reload = Effect.gen(function* () {
    const seen = yield* age
    if (seen === loaded) return
    const isFirst = pair === undefined
    pair = yield* read
    loaded = seen
    complained = warnedOfEnd = false
    yield* Effect.logInfo(isFirst ? "the certificate is there" : "the certificate was replaced")
  }).pipe(
    Effect.catchTag("ConfigurationInvalid", (error) => {
      if (complained) return Effect.void
      complained = true
      return Effect.logWarning(`${error.message}${pair === undefined ? "" : " The old certificate stays in use."}`)
    })
  )
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    // If the clock was set back, the last check would otherwise seem recent for too long.
    if (pair === undefined || now < lookedAt || now - lookedAt >= pair.lookMillis) {
      lookedAt = now
      yield* reload
    }
    if (pair !== undefined && pair.endsAt < now && !warnedOfEnd) {
      warnedOfEnd = true
      const since = new Date(pair.endsAt).toISOString()
      yield* Effect.logWarning(
        `The certificate in ${files.certificate} ended at ${since} by this machine's clock. Renew it, or correct the clock.`
      )
    }
    return pair?.context
  })
})
