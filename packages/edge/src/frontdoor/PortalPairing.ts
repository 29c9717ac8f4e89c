/**
 * Checks at startup that edge and control plane agree on PROXY v2 for the portal, by a request like a visitor's. If only the edge
 * uses it, every page is a 400; if only the control plane expects it, all visitors share the limits of the edge's address.
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

/** Marks a response to a connection that should have begun with PROXY v2. */
const expected = /^x-ct-proxy-protocol:[ \t]*expected[ \t]*\r?$/imu

/** The head of a response, as far as it arrived; empty if there was none. */
const headFrom = (upstream: Address, before: Uint8Array) =>
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
    socket.write(before)
    socket.write("GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeed("") }))

const problemOf = ({ proxyProtocol, upstream }: TerminateHost, head: string) => {
  const at = formatAddress(upstream)
  if (proxyProtocol && head.startsWith("HTTP/1.1 400 "))
    return ConfigurationInvalid.of(
      "CT_EDGE_PORTAL_PROXY_PROTOCOL",
      `is on, but the control plane at ${at} expects no PROXY v2 from this edge`,
      "add this edge's address to CT_CP_TRUSTED_PROXIES there and restart it, or turn this off"
    )
  if (!proxyProtocol && expected.test(head))
    return ConfigurationInvalid.of(
      "CT_EDGE_PORTAL_PROXY_PROTOCOL",
      `is off, but the control plane at ${at} names this edge in CT_CP_TRUSTED_PROXIES and expects PROXY v2 from it`,
      "turn it on, or take this edge's address out of that list"
    )
  return undefined
}

/** Fails if only one side uses PROXY v2. Succeeds if the control plane is unreachable or speaks TLS itself. */
export const check = Effect.gen(function* () {
  const { portal } = yield* Settings
  if (portal?.pair === undefined) return
  const head = yield* headFrom(portal.upstream, portal.proxyProtocol ? encodeProxyHeader({}) : new Uint8Array())
  const problem = problemOf(portal, head)
  if (problem !== undefined) return yield* problem
})
