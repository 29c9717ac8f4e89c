/**
 * A certificate pair in two files, read again when they change. A pair that cannot be used is reported and the one before
 * stays in force.
 */
import { Effect, FileSystem, Option, Schedule, type Scope } from "effect"
import { createPrivateKey, X509Certificate } from "node:crypto"
import type { PemPair } from "../settings/PemPair.ts"
import { type Pair, PairSource } from "./PairSource.ts"

const every = "2 seconds"

const matches = ({ cert, key }: Pair) => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))

const read = Effect.fn("PemFiles.read")(function* (files: PemPair) {
  const fs = yield* FileSystem.FileSystem
  const pair = { cert: yield* fs.readFileString(files.certificate), key: yield* fs.readFileString(files.key) }
  const usable = yield* Effect.try({ try: () => matches(pair), catch: () => "it is not a PEM certificate and key" })
  return usable ? pair : yield* Effect.fail("the key does not belong to the certificate")
})

const reload = Effect.fn("PemFiles.reload")(function* (files: PemPair, source: PairSource) {
  const pair = yield* read(files)
  if (pair.cert === source.current.cert && pair.key === source.current.key) return
  source.replace(pair)
  yield* Effect.logInfo("certificate reloaded").pipe(Effect.annotateLogs({ file: files.certificate }))
})

/** Reads the pair and follows its files while the scope lives; none when it is unusable at the start. */
export const follow: (
  files: PemPair
) => Effect.Effect<Option.Option<PairSource>, never, FileSystem.FileSystem | Scope.Scope> = Effect.fn(
  "PemFiles.follow"
)(function* (files: PemPair) {
  const warn = (reason: unknown) =>
    Effect.logWarning("certificate not usable").pipe(
      Effect.annotateLogs({ file: files.certificate, reason: String(reason) })
    )
  const first = yield* read(files).pipe(Effect.tapError(warn), Effect.option)
  if (Option.isNone(first)) return Option.none()
  const source = new PairSource(first.value)
  yield* Effect.forkScoped(reload(files, source).pipe(Effect.catch(warn), Effect.schedule(Schedule.spaced(every))))
  return Option.some(source)
})
