import * as ProxyPairing from "@catenet/edge/internal/frontdoor/ProxyPairing"
import { Settings } from "@catenet/edge/internal/settings/Settings"
import { start } from "@catenet/idp/IdentityProvider"
import { trusts } from "@catenet/platform/ForwardedChain"
import { encodeProxyHeader, readProxyHeader } from "@catenet/platform/ProxyProtocol"
import * as ProxiedConnections from "@catenet/server/internal/http/ProxiedConnections"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { NetAddress } from "effect/net"
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Port = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))
const V4 = Schema.Tuple([Byte, Byte, Byte, Byte])

describe("the PROXY header that the edge writes", () => {
  it.prop("is read by the control plane", [V4, V4, Port, Schema.Boolean], ([left, right, port, isV6]) => {
    const address = NetAddress.formatIp(
      NetAddress.toCanonical(
        isV6
          ? NetAddress.ipv6FromBytesUnsafe(Uint8Array.of(0x20, 1, ...left, ...left, ...right, 7, 8))
          : NetAddress.ipv4FromBytesUnsafe(Uint8Array.of(...right))
      )
    )
    const header = encodeProxyHeader({ source: { address, port }, authority: "portal.example.test" })
    assert.deepStrictEqual(readProxyHeader(header), {
      _tag: "Header",
      length: header.length,
      client: { address, port }
    })
  })

  const providerTrusting = Effect.fnUntraced(function* (trusted: string, seen: Array<string | undefined> = []) {
    const folder = mkdtempSync(join(tmpdir(), "catenet-idp-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
    const options = { realm: "r", host: "127.0.0.1", port: 0, folder, audience: "a", clients: [], users: [] }
    const prepare: NonNullable<Parameters<typeof start>[0]["prepare"]> = (server) => {
      ProxiedConnections.accept(server, trusts([trusted]))
      server.on("request", (request) => seen.push(request.socket.remoteAddress))
    }
    return yield* Effect.acquireRelease(
      Effect.promise(() => start({ ...options, prepare })),
      (running) => Effect.promise(() => running.close())
    )
  })

  it.live("is accepted by the identity provider from its trusted proxies, and refused from others", () =>
    Effect.gen(function* () {
      const answered = (trusted: string) =>
        Effect.gen(function* () {
          const seen: Array<string | undefined> = []
          const idp = yield* providerTrusting(trusted, seen)
          const text = yield* Effect.callback<string>((resume) => {
            let said = ""
            const socket = connect(idp.port, "127.0.0.1", () => {
              socket.write(encodeProxyHeader({ source: { address: "198.51.100.7", port: 9 } }))
              socket.write(
                "GET /realms/r/.well-known/openid-configuration HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
              )
            })
            socket.setEncoding("utf8").on("data", (chunk: string) => (said += chunk))
            socket.on("error", () => {}).on("close", () => resume(Effect.succeed(said)))
          })
          return [text.slice(9, 12), ...seen]
        }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* answered("127.0.0.0/8"), ["200", "198.51.100.7"])
      assert.deepStrictEqual(yield* answered("10.0.0.0/8"), ["400"])
    })
  )

  it.live("must be expected by the identity provider exactly if the edge is to write it", () =>
    Effect.gen(function* () {
      const starts = Effect.fnUntraced(function* (trusted: string, proxyProtocol: boolean) {
        const { port } = yield* providerTrusting(trusted)
        const pair = { certificate: "auth.pem", key: "auth.key" }
        const identityProvider = { host: "auth.test", upstream: { host: "127.0.0.1", port }, pair, proxyProtocol }
        const settings = { identityProvider } as unknown as Settings["Service"]
        return Exit.isSuccess(yield* Effect.exit(Effect.provideService(ProxyPairing.check, Settings, settings)))
      }, Effect.scoped)
      assert.isTrue(yield* starts("127.0.0.0/8", true))
      assert.isTrue(yield* starts("10.0.0.0/8", false))
      assert.isFalse(yield* starts("127.0.0.0/8", false))
      assert.isFalse(yield* starts("10.0.0.0/8", true))
    })
  )
})
