/** Basic network checks: whether a name resolves, whether a port accepts, and which certificate it shows. */
import { ended } from "@catenet/domain/values/Sentence"
import { isIP } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import type { X509Certificate } from "node:crypto"
import * as OutgoingProxy from "../carrier/OutgoingProxy.ts"
import { Unreachable } from "../Failure.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"

const boundMillis = 5000

/** How this machine reaches an address: the resolved addresses, or the proxy that resolves it. */
export const route = Effect.fnUntraced(function* (target: HostPort, fix: string) {
  const proxy = yield* OutgoingProxy.proxyFor(target)
  return proxy === undefined
    ? (yield* resolve(target.host, fix)).join(", ")
    : `resolved by the proxy ${formatHostPort(proxy)}`
})

/** Succeeds if the address, or the proxy for it, accepts a connection. */
export const reaches = Effect.fnUntraced(function* (target: HostPort, fix: string) {
  const proxy = yield* OutgoingProxy.proxyFor(target)
  if (proxy === undefined) return yield* accepts(target, fix)
  const socket = yield* Effect.mapError(
    OutgoingProxy.stream(proxy, target),
    ({ message }) => new Unreachable({ detail: `${formatHostPort(target)} is not reached: ${ended(message)}` })
  )
  socket.destroy()
})

/** The addresses of a name, in the order in which they are tried. */
export const resolve = (host: string, fix: string) =>
  isIP(host) === 0
    ? Effect.tryPromise({
        try: async () => (await Sockets.lookup(host, { all: true })).map(({ address }) => address),
        catch: () => new Unreachable({ detail: `The name ${host} does not resolve. ${fix}` })
      })
    : Effect.succeed([host])

/** Succeeds when the port accepts a connection within 5 s. */
export const accepts = (address: HostPort, fix: string) =>
  Effect.callback<void, Unreachable>((resume) => {
    const socket = Sockets.dialTcp(address)
    const failed = (why: string) => {
      socket.destroy()
      const detail = `${formatHostPort(address)} does not accept connections (${why}). ${fix}`
      resume(Effect.fail(new Unreachable({ detail })))
    }
    socket.setTimeout(boundMillis, () => failed(`nothing within ${boundMillis / 1000} s`))
    socket.once("error", (error) => failed("code" in error ? String(error.code) : error.message))
    socket.once("connect", () => {
      socket.destroy()
      resume(Effect.void)
    })
    return Effect.sync(() => socket.destroy())
  })

/** The certificate that a TLS service shows for a name, signed by anyone; undefined when it does not speak TLS. */
export const certificate = (address: HostPort, servername: string) =>
  Effect.callback<X509Certificate | undefined>((resume) => {
    const socket = Sockets.dialTls({ ...address, servername, rejectUnauthorized: false })
    const none = () => resume(Effect.undefined)
    socket.setTimeout(boundMillis, none)
    socket.once("error", none)
    socket.once("close", none)
    socket.once("secureConnect", () => {
      resume(Effect.succeed(socket.getPeerX509Certificate()))
      socket.destroy()
    })
    return Effect.sync(() => socket.destroy())
  })
