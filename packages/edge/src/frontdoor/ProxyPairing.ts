/**
 * Checks at startup that the edge and its upstreams, the control plane and the identity provider, agree on PROXY v2, by a request
 * like a visitor's, and by the other kind of request if that fails. If only the edge uses it, every page fails; if only the
 * upstream expects it, it refuses all visitors, or they share the limits of the edge's address.
 */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { type Address, formatAddress } from "@catenet/platform/NetworkParser"
import { encodeProxyHeader } from "@catenet/platform/ProxyProtocol"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import { Settings, type TerminateHost } from "../settings/Settings.ts"

const patience = "2 seconds"
/** Bytes of the response's head that are read. */
const longestHead = 16_384

/** Marks a response of our own servers to a connection that should have begun with PROXY v2. */
const expected = /^x-ct-proxy-protocol:[ \t]*expected[ \t]*\r?$/imu

/** An HTTP server that expects no PROXY v2 reads its signature as a request and answers 400; one that misses it closes. */
const understood = (head: string) => /^HTTP\/1\.[01] (?!400)\d/u.test(head)

/** The head of a response, as far as it arrived; empty if there was none. */
const headFrom = (upstream: Address, proxyProtocol: boolean) =>
  Effect.callback<string>((resume) => {
    const socket = Sockets.dialTcp({ ...upstream, noDelay: true })
    let head = ""
    const end = () => {
      socket.destroy()
      resume(Effect.succeed(head))
    }
    socket.setEncoding("latin1").on("data", (text: string) => {
      head += text
      if (head.includes("\r\n\r\n") || head.length > longestHead) end()
    })
    socket.on("error", end).on("close", end)
    if (proxyProtocol) socket.write(encodeProxyHeader({}))
    socket.write("GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed("") }))

const pairs = {
  portal: { variable: "CT_EDGE_PORTAL_PROXY_PROTOCOL", name: "control plane", there: "CT_CP_TRUSTED_PROXIES there" },
  identityProvider: {
    variable: "CT_EDGE_AUTH_PROXY_PROTOCOL",
    name: "identity provider",
    there: "CT_IDP_TRUSTED_PROXIES there (or turn on its own setting, such as Keycloak's proxy-protocol-enabled)"
  }
}

const checkPair = Effect.fnUntraced(function* (
  { name, there, variable }: (typeof pairs)[keyof typeof pairs],
  { pair, proxyProtocol, upstream }: TerminateHost
) {
  if (pair === undefined) return
  const head = yield* headFrom(upstream, proxyProtocol)
  const isWrong = understood(head)
    ? !proxyProtocol && expected.test(head)
    : understood(yield* headFrom(upstream, !proxyProtocol))
  if (!isWrong) return
  const at = `the ${name} at ${formatAddress(upstream)}`
  return yield* proxyProtocol
    ? ConfigurationInvalid.of(
        variable,
        `is on, but ${at} expects no PROXY v2 from this edge`,
        `add this edge's address to ${there} and restart it, or turn this off`
      )
    : ConfigurationInvalid.of(
        variable,
        `is off, but ${at} expects PROXY v2 from this edge`,
        `turn it on, or take this edge's address out of ${there}`
      )
})

/** Fails if only one side uses PROXY v2. Succeeds if the upstream is unreachable or speaks TLS itself. */
export const check = Effect.gen(function* () {
  const { identityProvider, portal } = yield* Settings
  if (portal !== undefined) yield* checkPair(pairs.portal, portal)
  if (identityProvider !== undefined) yield* checkPair(pairs.identityProvider, identityProvider)
})
