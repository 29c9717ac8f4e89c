/**
 * Looks at host names whose agents reported a certificate without showing it, as agents of other makes do: an issuance counts for
 * its week when the certificate is seen. The name is resolved first and only addresses of the public internet are called, as the
 * names are accounts' own.
 */
import { isPublic } from "@catenet/platform/PublicHttp"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect, Layer, Schedule } from "effect"
import { X509Certificate } from "node:crypto"
import type { DetailedPeerCertificate } from "node:tls"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { HostStore } from "../tunnels/hostnames/HostStore.ts"
import { Admissions } from "./Admissions.ts"

/** Names that a replica looks at in a round, and how many of them together. */
const maxNames = 64
const atOnce = 8

const chainOf = (certificate: DetailedPeerCertificate): ReadonlyArray<X509Certificate> => {
  const chain: Array<X509Certificate> = []
  for (let at = certificate; chain.length < 10; at = at.issuerCertificate) {
    if (at?.raw === undefined) break
    chain.push(new X509Certificate(at.raw))
    if (at.issuerCertificate === at) break
  }
  return chain
}

/** The chain that is served at an address under a name; none where there is no TLS. */
export const served = (host: string, port: number, servername: string) =>
  Effect.callback<ReadonlyArray<X509Certificate>>((resume) => {
    // Whether the chain is to be believed is decided by whoever asks.
    const socket = Sockets.dialTls({ host, port, servername, rejectUnauthorized: false })
    socket.once("secureConnect", () => {
      resume(Effect.succeed(chainOf(socket.getPeerCertificate(true))))
      socket.destroy()
    })
    socket.once("error", () => resume(Effect.succeed([])))
    socket.once("close", () => resume(Effect.succeed([])))
    return Effect.sync(() => void socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed([]) }))

const looked = Effect.fnUntraced(function* (hostname: string, port: number) {
  const addresses = yield* Effect.tryPromise(() => Sockets.lookup(hostname, { all: true })).pipe(
    Effect.timeout("5 seconds"),
    Effect.orElseSucceed(() => [])
  )
  const [first] = addresses
  if (first === undefined || !addresses.every(({ address }) => isPublic(address))) return []
  return yield* served(first.address, port, hostname)
})

/** Runs as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { gateHostsPort } = yield* Settings
    const { see } = yield* Admissions
    const { pruneIssuances, unseen } = yield* HostStore
    const round = Effect.gen(function* () {
      const now = yield* unixSeconds
      yield* sqlOrDie(pruneIssuances(now))
      const names = yield* sqlOrDie(unseen({ now, limit: maxNames }))
      yield* Effect.forEach(
        names,
        Effect.fnUntraced(function* ({ hostname }) {
          // Any name that a wildcard stands for has its certificate.
          const chain = yield* looked(hostname.replace("*", "certificate"), gateHostsPort)
          if (chain.length > 0) yield* see(hostname, chain)
        }),
        { concurrency: atOnce, discard: true }
      )
    })
    yield* round.pipe(
      Effect.catchCause((cause) => Effect.logWarning("The look for new certificates failed.", cause)),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide([Admissions.layer, HostStore.layer]))
