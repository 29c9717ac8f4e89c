/**
 * TLS-ALPN-01 challenge certificates (RFC 8737): the ACME client writes them, the serving agent reads them, one file per host in
 * the state folder, so both may be different processes. They are not checked here.
 */
import { createSecureContext } from "@catenet/platform/Sockets"
import { serverTls } from "@catenet/wire/transport/ServerTls"
import { Clock, Effect, FileSystem, Option } from "effect"
import type { SecureContext } from "node:tls"
import * as PrivateFile from "../state/PrivateFile.ts"

/** The challenge certificate and its key, PEM. */
export interface Challenge {
  readonly certificate: string
  readonly key: string
}

/** Older challenges belong to a client that died. */
const longestMillis = 3_600_000

/** How often an active client refreshes its challenge, so that it counts again soon after the clock was set. */
const renewedEvery = "1 second"

const folderOf = (stateDir: string) => `${stateDir}/tls-alpn-01`

/** `host` is in normal form, which has no character that means something in a path. */
export const pathOf = (stateDir: string, host: string) => `${folderOf(stateDir)}/${host}.pem`

/** Answers validations of this host with this challenge until the scope closes. The last one that was offered for a host counts. */
export const offer = Effect.fn("Challenges.offer")(function* (stateDir: string, host: string, challenge: Challenge) {
  const fs = yield* FileSystem.FileSystem
  const path = pathOf(stateDir, host)
  const bytes = new TextEncoder().encode(`${challenge.key.trim()}\n${challenge.certificate.trim()}\n`)
  yield* Effect.acquireRelease(
    Effect.andThen(PrivateFile.folder(folderOf(stateDir)), PrivateFile.replaceAll([{ path, bytes }])),
    () => Effect.ignore(fs.remove(path, { force: true }))
  )
  const renewed = Effect.flatMap(Clock.currentTimeMillis, (now) => fs.utimes(path, now / 1000, now / 1000))
  yield* Effect.ignore(renewed).pipe(Effect.delay(renewedEvery), Effect.forever, Effect.forkScoped)
})

/** Whether there is a challenge for any host. */
export const somePending = Effect.fn("Challenges.somePending")(function* (stateDir: string) {
  const fs = yield* FileSystem.FileSystem
  const names = yield* Effect.orElseSucceed(fs.readDirectory(folderOf(stateDir)), () => [])
  return names.some((name) => name.endsWith(".pem"))
})

const ageOf = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const found = yield* Effect.option(fs.stat(path))
  if (Option.isNone(found)) return undefined
  const now = yield* Clock.currentTimeMillis
  return now - Option.match(found.value.mtime, { onNone: () => now, onSome: (date) => date.getTime() })
})

/** Whether there is a challenge for this host. */
export const isOffered = Effect.fn("Challenges.isOffered")(function* (stateDir: string, host: string) {
  const age = yield* ageOf(pathOf(stateDir, host))
  return age !== undefined && age < longestMillis
})

/** The pending challenge for this host. An unusable one is logged and ignored. */
export const pending = Effect.fn("Challenges.pending")(function* (
  stateDir: string,
  host: string
): Effect.fn.Return<SecureContext | undefined, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const path = pathOf(stateDir, host)
  if (!(yield* isOffered(stateDir, host))) return undefined
  return yield* fs.readFileString(path).pipe(
    Effect.flatMap((pem) => Effect.try(() => createSecureContext({ cert: pem, key: pem, ...serverTls }))),
    Effect.catch((error) =>
      Effect.as(Effect.logWarning(`${path} is no certificate with its key: ${error.message}`), undefined)
    )
  )
})
