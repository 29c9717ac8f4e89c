import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger, Redacted } from "effect"
import { Settings } from "../../src/settings/Settings.ts"

const read = (variables: Record<string, string>) =>
  Effect.provide(Settings, Settings.layer).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(variables))
  )

const required = { CT_EDGE_CERT_OUT: "/tmp/edge-cert.der" }
const token = "AB".repeat(32)

describe("Settings", () => {
  it.effect("has the defaults of the contract", () =>
    Effect.gen(function* () {
      const settings = yield* read(required)
      assert.deepStrictEqual(settings.mesh, { host: "0.0.0.0", port: 4433 })
      assert.strictEqual(settings.edgeId, "primary")
      assert.strictEqual(settings.publicAddress, "unknown")
      assert.strictEqual(settings.deliverWaitMillis, 3_000)
      assert.strictEqual(settings.shutdownGraceSeconds, 30)
      assert.strictEqual(settings.connections, 8_192)
      assert.isFalse(settings.requireHostAuth)
    })
  )

  it.effect("requires host authorization exactly where a front door is open, unless set otherwise", () =>
    Effect.gen(function* () {
      const door = { ...required, CT_FRONT_DOOR: "127.0.0.1:0" }
      assert.isTrue((yield* read(door)).requireHostAuth)
      assert.isTrue((yield* read({ ...required, CT_EDGE_BROWSER_LISTEN: "127.0.0.1:0" })).requireHostAuth)
      assert.isFalse((yield* read({ ...door, CT_EDGE_REQUIRE_HOST_AUTH: "0" })).requireHostAuth)
      assert.isTrue((yield* read({ ...required, CT_EDGE_REQUIRE_HOST_AUTH: "1" })).requireHostAuth)
    })
  )

  it.effect("opens doors for channels only with a control plane, the relay beside the broker", () =>
    Effect.gen(function* () {
      const plane = { ...required, CT_EDGE_CP_URL: "http://127.0.0.1:8090", CT_EDGE_ADMIN_TOKEN: token }
      const broker = { CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:4435" }
      const relay = (more: Record<string, string>) =>
        Effect.map(read({ ...plane, ...broker, ...more }), ({ channelRelay }) => channelRelay?.port)
      assert.strictEqual(yield* relay({}), 4_436)
      assert.strictEqual(yield* relay({ CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:5000" }), 5_000)
      assert.isUndefined(yield* relay({ CT_EDGE_CHANNEL_RELAY_LISTEN: "127.0.0.1:4435" }))
      assert.isUndefined(yield* relay({ CT_EDGE_CHANNEL_LISTEN: "127.0.0.1:65535" }))
      const said: Array<unknown> = []
      const log = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      assert.isUndefined((yield* Effect.provide(read({ ...required, ...broker }), log)).channelBroker)
      assert.match(String(said), /^CT_EDGE_CHANNEL_LISTEN has no effect: CT_EDGE_CP_URL is not set, /u)
      const attested = (value: string) =>
        Effect.map(
          read({ ...required, CT_EDGE_REQUIRE_ATTESTED_ENDPOINT: value }),
          ({ requireAttestedEndpoint }) => requireAttestedEndpoint
        )
      assert.deepStrictEqual([yield* attested("1"), yield* attested("true")], [true, false])
    })
  )

  it.effect("reads trusted proxies as addresses and networks, and refuses what is neither", () =>
    Effect.gen(function* () {
      const trusted = (CT_EDGE_TRUSTED_PROXIES: string) =>
        Effect.map(read({ ...required, CT_EDGE_TRUSTED_PROXIES }), ({ trustedProxies }) => trustedProxies)
      assert.deepStrictEqual(yield* trusted("192.0.2.1, 10.0.0.0/8"), ["192.0.2.1/32", "10.0.0.0/8"])
      assert.isUndefined(yield* trusted(""))
      for (const bad of ["proxy.example", "10.0.0.0/33", "192.0.2.1:80"])
        assert.match(String(yield* Effect.flip(trusted(bad))), /CT_EDGE_TRUSTED_PROXIES/)
    })
  )

  it.effect("lifts caps by word and keeps the default for nonsense", () =>
    Effect.gen(function* () {
      const caps = (value: string) =>
        Effect.map(read({ ...required, CT_EDGE_MAX_CONNECTIONS: value }), ({ connections }) => connections)
      assert.strictEqual(yield* caps("none"), Number.POSITIVE_INFINITY)
      assert.strictEqual(yield* caps("12"), 12)
      assert.strictEqual(yield* caps("many"), 8_192)
    })
  )

  it.effect("names the variable that is missing or malformed, and never a secret", () =>
    Effect.gen(function* () {
      const sentences: ReadonlyArray<readonly [Record<string, string>, RegExp]> = [
        [{}, /^CT_EDGE_CERT_OUT is not set; set it to /],
        [{ ...required, CT_FRONT_DOOR: "8443" }, /^CT_FRONT_DOOR is "8443", which is not a host and a port; /],
        [{ ...required, CT_EDGE_LISTEN: "a:70000" }, /^CT_EDGE_LISTEN is /],
        [{ ...required, CT_EDGE_ADMIN_TOKEN: "hunter2" }, /^CT_EDGE_ADMIN_TOKEN is not 64 hex digits; /],
        [{ ...required, CT_EDGE_CP_URL: "http://127.0.0.1:8090" }, /^CT_EDGE_ADMIN_TOKEN is not set although /],
        [{ ...required, CT_EDGE_WILDCARD_CERT: "/a" }, /^CT_EDGE_WILDCARD_KEY is not set; /],
        [{ ...required, CT_EDGE_SHUTDOWN_GRACE_SECS: "-1" }, /^CT_EDGE_SHUTDOWN_GRACE_SECS is "-1"/],
        [{ ...required, CT_EDGE_ID: "edge one" }, /^CT_EDGE_ID is "edge one", which is not 1 to 64 letters/],
        [
          { ...required, CT_EDGE_PUBLIC_ADDR: "edge.test" },
          /^CT_EDGE_PUBLIC_ADDR is "edge.test", which is not a host and/
        ],
        [{ ...required, CT_EDGE_PORTAL_HOST: "https://p.test" }, /^CT_EDGE_PORTAL_HOST is .* not a host name/],
        [{ ...required, CT_EDGE_RECEIPTS: "1", CT_EDGE_TUNNEL_HISTORY: "off" }, /^CT_EDGE_RECEIPTS is on although /]
      ]
      for (const [variables, sentence] of sentences) {
        const refusal = yield* Effect.flip(read(variables))
        assert.match(refusal.message, sentence)
        assert.notInclude(refusal.message, "hunter2")
      }
    })
  )

  it.effect("knows the platform's hosts in their normal form", () =>
    Effect.gen(function* () {
      const { portal } = yield* read({
        ...required,
        CT_EDGE_PORTAL_HOST: "Portal.Example.",
        CT_CP_PROXY_ADDR: "127.0.0.1:8090"
      })
      assert.strictEqual(portal?.host, "portal.example")
    })
  )

  it.effect("keeps the admin token in its lower-case form", () =>
    Effect.gen(function* () {
      const { adminToken } = yield* read({ ...required, CT_EDGE_ADMIN_TOKEN: token })
      assert.strictEqual(adminToken && Redacted.value(adminToken), token.toLowerCase())
    })
  )
})
