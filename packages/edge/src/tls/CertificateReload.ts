/** A certificate pair in two files, reloaded when they change. An unusable pair is reported, and the previous one stays in use. */
import { retryForever } from "@catenet/platform/RetryForever"
import { Clock, Effect, FileSystem, Option, Predicate, Schedule, type Scope } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"
import type { PemPair } from "../settings/Settings.ts"
import { type Pair, CertificateSource } from "./CertificateSource.ts"

const every = "2 seconds"

/** The system's name of the error. */
const codeOf = ({ _tag, cause }: { readonly _tag: string; readonly cause?: unknown }) =>
  Predicate.hasProperty(cause, "code") ? String(cause.code) : _tag

const contentOf = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* fs.readFileString(path)
  }).pipe(Effect.mapError(({ reason }) => `${path} cannot be read (${codeOf(reason)}); correct the path or the rights`))

/** The parsed file, or what it should have been. */
const parsed = <A>(path: string, what: string, parse: () => A) =>
  Effect.try({ try: parse, catch: () => `${path} holds no ${what}; name a PEM file with one` })

const read = Effect.fn("CertificateReload.read")(function* (files: PemPair) {
  const pair: Pair = { cert: yield* contentOf(files.certificate), key: yield* contentOf(files.key) }
  const certificate = yield* parsed(files.certificate, "certificate", () => new X509Certificate(pair.cert))
  if (/-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/mu.test(pair.key))
    return yield* Effect.fail(`${files.key} is encrypted; write it without a passphrase, by openssl pkey -in and -out`)
  const key = yield* parsed(files.key, "private key", () => createPrivateKey(pair.key))
  if (certificate.checkPrivateKey(key)) return { ...pair, ends: certificate.validTo }
  return yield* Effect.fail(`${files.key} is not the key of ${files.certificate}; name two files of one pair`)
})

/** Visitors see that it has expired; it is still used, because there is no other. */
const warnOfEnd = Effect.fnUntraced(function* (files: PemPair, ends: string) {
  if (Date.parse(ends) > (yield* Clock.currentTimeMillis)) return
  yield* Effect.logWarning("certificate has ended; put a newer one into its file").pipe(
    Effect.annotateLogs({ file: files.certificate, ended: ends })
  )
})

const reload = Effect.fn("CertificateReload.reload")(function* (files: PemPair, source: CertificateSource) {
  const pair = yield* read(files)
  if (pair.cert === source.current.cert && pair.key === source.current.key) return
  source.replace({ cert: pair.cert, key: pair.key })
  yield* warnOfEnd(files, pair.ends)
  yield* Effect.logInfo("certificate reloaded").pipe(Effect.annotateLogs({ file: files.certificate }))
})

/** Reads the pair and watches its files while the scope is open; none if it is unusable at the start. */
export const follow: (
  files: PemPair
) => Effect.Effect<Option.Option<CertificateSource>, never, FileSystem.FileSystem | Scope.Scope> = Effect.fn(
  "CertificateReload.follow"
)(function* (files: PemPair) {
  const warn = (consequence: string) => (reason: string) =>
    Effect.logWarning(`certificate not usable, ${consequence}`).pipe(
      Effect.annotateLogs({ file: files.certificate, reason })
    )
  const first = yield* read(files).pipe(
    Effect.tapError(warn("the edge serves without it until it is mended and the edge is started again")),
    Effect.option
  )
  if (Option.isNone(first)) return Option.none()
  const { cert, ends, key } = first.value
  const source = new CertificateSource({ cert, key })
  yield* warnOfEnd(files, ends)
  yield* Effect.forkScoped(
    reload(files, source).pipe(
      Effect.catch(warn("the one before stays")),
      Effect.schedule(Schedule.spaced(every)),
      retryForever("following a certificate")
    )
  )
  return Option.some(source)
})
