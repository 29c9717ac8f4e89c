/**
 * The process's HTTP proxy, if any: every outgoing connection is opened here, by HTTP CONNECT (RFC 9110 section 9.3.6). The proxy
 * resolves names, so an agent can run on a machine without public DNS.
 */
import { Http } from "@catenet/platform/Http"
import { isIP } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { Context, Deferred, Effect, Redacted } from "effect"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Unreachable } from "../Failure.ts"
import { formatHostPort, type HostPort } from "../settings/HostPort.ts"
import type { ProxySettings } from "../settings/ProxyVariables.ts"

/** TCP keep-alive delay in milliseconds. */
export const keepAliveMillis = 20_000

const connectMillis = 10_000

/** The proxy did not connect. The message continues "the control plane cannot be asked". */
export class ProxyFailed extends Error {
  override readonly name = "ProxyFailed"
}

interface Proxy extends ProxySettings {
  /** Whether the proxy was logged, which happens at the first connection to an edge. */
  isLogged: boolean
  /** Reports that the proxy has refused the credentials: no later connection would fare better. */
  readonly refuse: (why: string) => void
}

/** The proxy of this process. */
export const OutgoingProxy = Context.Reference<Proxy | undefined>("agent/carrier/OutgoingProxy", {
  defaultValue: () => undefined
})

/** Runs with this proxy. Ends with exit code 5 when the proxy refuses the credentials. */
export const provide =
  (settings: ProxySettings | undefined) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unreachable, R> =>
    settings === undefined
      ? self
      : Effect.gen(function* () {
          const refused = yield* Deferred.make<never, Unreachable>()
          const refuse = (why: string) =>
            Deferred.doneUnsafe(
              refused,
              Effect.fail(new Unreachable({ detail: `${why[0]?.toUpperCase()}${why.slice(1)}.` }))
            )
          const proxied = Effect.provideService(self, OutgoingProxy, { ...settings, isLogged: false, refuse })
          return yield* Effect.raceFirst(proxied, Deferred.await(refused))
        })

/** The proxy for connections to this address; undefined for direct connections. */
export const proxyFor = (target: HostPort): Effect.Effect<Proxy | undefined> =>
  Effect.map(OutgoingProxy, (proxy) => (proxy?.bypasses(target) === true ? undefined : proxy))

const reasonOf = ({ credentials, credentialsVariable }: Proxy, status: number, target: string) => {
  if (status === 407)
    return credentials === undefined
      ? `wants credentials (407): set ${credentialsVariable} to a file with user:password`
      : `refuses the credentials (407): correct ${credentialsVariable}`
  return status === 403 ? `does not permit connections to ${target} (403)` : `answered ${status} for ${target}`
}

/** Opens a byte stream to the target; `done` is called once. The result aborts the attempt. */
const open = (proxy: Proxy, target: HostPort, done: (error: ProxyFailed | undefined, socket?: Socket) => void) => {
  const { credentials, host, port, variable } = proxy
  const at = `the proxy ${formatHostPort(proxy)}`
  const authority = formatHostPort(target)
  const failed = (why: string) => done(new ProxyFailed(`${at} ${why}`))
  const asked = Http.request({
    method: "CONNECT",
    path: authority,
    headers: {
      host: authority,
      "user-agent": "ct-agent",
      ...(credentials === undefined
        ? {}
        : { "proxy-authorization": `Basic ${Buffer.from(Redacted.value(credentials)).toString("base64")}` })
    },
    timeout: connectMillis,
    createConnection: () => Sockets.dialTcp({ host, port, allowHalfOpen: true, noDelay: true })
  })
  asked.once("timeout", () => {
    failed(`gave no connection to ${authority} within ${connectMillis / 1_000} s`)
    asked.destroy()
  })
  asked.once("error", (error) =>
    failed(`cannot be used (${"code" in error ? String(error.code) : error.message}): check ${variable}`)
  )
  asked.once("connect", ({ statusCode = 0 }, stream, head) => {
    const socket = stream as Socket
    if (statusCode >= 200 && statusCode < 300) {
      socket.setTimeout(0)
      if (head.length > 0) socket.unshift(head)
      return done(undefined, socket)
    }
    socket.on("error", () => {})
    socket.destroy()
    const why = reasonOf(proxy, statusCode, authority)
    if (statusCode === 407) proxy.refuse(`${at} ${why}`)
    return failed(why)
  })
  asked.end()
  return () => {
    asked.on("error", () => {})
    asked.destroy()
  }
}

/** The proxy for connections to an edge; its use is logged once. */
export const proxyForEdge = Effect.fnUntraced(function* (edge: HostPort) {
  const proxy = yield* proxyFor(edge)
  if (proxy?.isLogged === false) {
    proxy.isLogged = true
    yield* Effect.logInfo(`connections go through the proxy ${formatHostPort(proxy)}; QUIC and direct paths are off`)
  }
  return proxy
})

/** A byte stream through the proxy. */
export const stream = Effect.fn("OutgoingProxy.stream")((proxy: Proxy, target: HostPort) =>
  Effect.callback<Socket, ProxyFailed>((resume) => {
    const abort = open(proxy, target, (error, socket) =>
      resume(socket === undefined ? Effect.fail(error ?? new ProxyFailed("no connection")) : Effect.succeed(socket))
    )
    return Effect.sync(abort)
  })
)

/** How Node's HTTP client connects through the proxy: its `createConnection`. */
export const createConnection =
  (proxy: Proxy, { ca, url }: { readonly url: URL; readonly ca?: string | ReadonlyArray<string> | undefined }) =>
  (_options: unknown, done: (error: Error | null, socket: Duplex) => void): undefined => {
    const isSecure = url.protocol === "https:" || url.protocol === "wss:"
    const host = url.hostname.replace(/^\[|\]$/gu, "")
    const port = url.port === "" ? (isSecure ? 443 : 80) : Number(url.port)
    open(proxy, { host, port }, (error, socket) => {
      // Node accepts no socket together with an error.
      if (socket === undefined) return (done as (error: Error | null) => void)(error ?? null)
      if (!isSecure) return done(null, socket)
      const roots = ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }
      return done(null, Sockets.dialTls({ socket, ...roots, ...(isIP(host) === 0 ? { servername: host } : { host }) }))
    })
  }
