import { ChannelId } from "@catenet/domain/channels/Channel"
import { Hostname } from "@catenet/domain/values/Hostname"
import { HolderKey, PublicKey } from "@catenet/domain/values/Keys"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { ControlPlane, type ControlPlaneClient } from "../../src/control/ControlPlane.ts"
import { Settings } from "../../src/settings/Settings.ts"

const listening = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
  ).pipe(Effect.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`))

const revoked = ({ revokedTokens }: ControlPlaneClient) => revokedTokens({ query: {} })

const failingCall = <E>(url: string, call: (client: ControlPlaneClient) => Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    const { client } = yield* ControlPlane
    if (client === undefined) return assert.fail("there is no client")
    return yield* Effect.flip(call(client))
  }).pipe(
    Effect.provide(ControlPlane.layerUnsigned),
    Effect.provide(
      Settings.layer.pipe(
        Layer.provide(
          ConfigProvider.layer(
            ConfigProvider.fromUnknown({
              CT_EDGE_CERT_OUT: "/nonexistent/edge-cert.der",
              CT_EDGE_CP_URL: url,
              CT_EDGE_ADMIN_TOKEN: "ad".repeat(32)
            })
          )
        )
      )
    )
  )

const failing = (url: string) => failingCall(url, revoked)

describe("the edge's calls to its control plane", () => {
  it.live("follow no redirect", () =>
    Effect.gen(function* () {
      const strange: Array<string> = []
      const stranger = yield* listening((request, response) => {
        strange.push(`${request.method} ${request.url}`)
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ tokens: [] }))
      })
      const plane = yield* listening((request, response) =>
        response.writeHead(307, { location: `${stranger}${request.url}` }).end()
      )
      yield* failing(plane)
      assert.deepStrictEqual(strange, [])
    }).pipe(Effect.scoped)
  )

  it.live("ask once more when the connection breaks, and tell nothing twice", () =>
    Effect.gen(function* () {
      const calls = ["GET /internal/revoked-tokens", "POST /internal/channel/authorize", "POST /internal/gate/check"]
      const heard: Array<string> = []
      const plane = yield* listening((request) => {
        heard.push(`${request.method} ${request.url?.replace(/\?.*/u, "")}`)
        request.socket.destroy()
      })
      const holder = HolderKey.make("0a".repeat(32))
      const token = Schema.decodeUnknownSync(RoutingToken)("0c".repeat(32))
      yield* failingCall(plane, ({ authorizeChannel, agentProved, checkVisitor, revokedTokens }) =>
        Effect.all(
          [
            Effect.exit(revokedTokens({ query: {} })),
            Effect.exit(authorizeChannel({ payload: { channel: ChannelId.make("0b".repeat(32)), holder } })),
            Effect.exit(checkVisitor({ payload: { host: Hostname.make("a.example.net") } })),
            agentProved({ payload: { token, key: PublicKey.make("0d".repeat(32)) } })
          ],
          { discard: true }
        )
      )
      for (const call of calls)
        assert.lengthOf(
          heard.filter((each) => each === call),
          2,
          call
        )
      assert.lengthOf(heard, 7)
    }).pipe(Effect.scoped)
  )

  it.live("end when an answer does not end", () =>
    Effect.gen(function* () {
      const cut = Promise.withResolvers<number>()
      const plane = yield* listening((_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        let sent = 0
        const pour = () => {
          while (!response.destroyed && response.write(" ".repeat(262_144))) sent += 262_144
        }
        response.on("drain", pour).on("close", () => cut.resolve(sent))
        pour()
      })
      const error = yield* failing(plane)
      assert.notStrictEqual(error._tag, "TimeoutError")
      assert.isBelow(yield* Effect.promise(() => cut.promise), 96 * 1_048_576)
    }).pipe(Effect.scoped)
  )
})
