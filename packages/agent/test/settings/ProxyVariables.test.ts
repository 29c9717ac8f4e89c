import * as VariableReader from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted, Result } from "effect"
import { bypassOf, settingsOf, variables } from "../../src/settings/ProxyVariables.ts"

const read = (given: Readonly<Record<string, string>>) => {
  const provider = ConfigProvider.fromUnknown(given)
  return VariableReader.read(variables, { sources: [provider] }).pipe(
    Effect.flatMap(settingsOf),
    Effect.provideService(ConfigProvider.ConfigProvider, provider),
    Effect.provide(NodeFileSystem.layer),
    Effect.result
  )
}

describe("NO_PROXY", () => {
  const to = (host: string, port = 443) => ({ host, port })
  it.each([
    ["*", [to("any.example")], []],
    [
      "example.org",
      [to("example.org"), to("a.Example.org."), to("example.org", 80)],
      [to("badexample.org"), to("org")]
    ],
    [".example.org", [to("example.org"), to("a.example.org")], [to("badexample.org")]],
    ["*.example.org", [to("a.example.org")], [to("example.com")]],
    ["example.org:8443", [to("example.org", 8443)], [to("example.org")]],
    ["192.0.2.7", [to("192.0.2.7")], [to("192.0.2.70"), to("192.0.2.8")]],
    ["10.0.0.0/8, b.test", [to("10.9.8.7"), to("b.test")], [to("11.0.0.1"), to("a.test")]],
    ["2001:db8::/32 [::2]", [to("2001:db8::1"), to("::2")], [to("2001:db9::1"), to("::3")]],
    ["10.0.0.0/33", [], [to("10.0.0.1")]],
    ["", [], [to("example.org")]]
  ])("'%s' leaves out what it names and nothing else", (list, out, through) => {
    const bypasses = bypassOf(list)
    for (const target of out) assert.isTrue(bypasses(target), target.host)
    for (const target of through) assert.isFalse(bypasses(target), target.host)
  })
})

describe("CT_AGENT_PROXY", () => {
  it.effect("is an address; this machine is reached without it, and NO_PROXY has no effect", () =>
    Effect.gen(function* () {
      const given = { CT_AGENT_PROXY: "http://proxy.example:3128/", CT_AGENT_PROXY_AUTH: "u:p:q", NO_PROXY: "*" }
      const settings = Result.getOrThrow(yield* read(given))
      assert.deepInclude(settings, { host: "proxy.example", port: 3128, variable: "CT_AGENT_PROXY" })
      assert.strictEqual(Redacted.value(settings?.credentials ?? Redacted.make("")), "u:p:q")
      for (const host of ["localhost", "a.localhost", "127.9.9.9", "::1"])
        assert.isTrue(settings?.bypasses({ host, port: 1 }), host)
      for (const host of ["localhost.example", "128.0.0.1", "::2"])
        assert.isFalse(settings?.bypasses({ host, port: 1 }), host)
      assert.isUndefined(Result.getOrThrow(yield* read({ HTTPS_PROXY: "http://proxy.example:3128" })))
    })
  )

  it.effect("takes the address and the credentials of HTTPS_PROXY when it is environment", () =>
    Effect.gen(function* () {
      const CT_AGENT_PROXY = "environment"
      const HTTPS_PROXY = "http://us%40er:pass@proxy.example:3128"
      const settings = Result.getOrThrow(yield* read({ CT_AGENT_PROXY, HTTPS_PROXY, NO_PROXY: "b.example" }))
      assert.deepInclude(settings, { host: "proxy.example", port: 3128, credentialsVariable: "HTTPS_PROXY" })
      assert.strictEqual(Redacted.value(settings?.credentials ?? Redacted.make("")), "us@er:pass")
      assert.isTrue(settings?.bypasses({ host: "a.b.example", port: 443 }))
      assert.isFalse(settings?.bypasses({ host: "a.example", port: 443 }))
      assert.isUndefined(Result.getOrThrow(yield* read({ CT_AGENT_PROXY })))
      const bare = Result.getOrThrow(yield* read({ CT_AGENT_PROXY, https_proxy: "proxy.example:8080" }))
      assert.deepInclude(bare, { port: 8080, credentials: undefined })
    })
  )

  it.effect.each<readonly [Readonly<Record<string, string>>, string]>([
    [{ CT_AGENT_PROXY: "http://user:s3cret@proxy.example:3128" }, "CT_AGENT_PROXY_AUTH_FILE"],
    [{ CT_AGENT_PROXY: "https://proxy.example:3128" }, "CT_AGENT_PROXY"],
    [{ CT_AGENT_PROXY: "proxy.example" }, "CT_AGENT_PROXY"],
    [{ CT_AGENT_PROXY: "http://proxy.example:0" }, "CT_AGENT_PROXY"],
    [{ CT_AGENT_PROXY: "proxy.example:1", CT_AGENT_PROXY_AUTH: "s3cret" }, "CT_AGENT_PROXY_AUTH"],
    [{ CT_AGENT_PROXY: "proxy.example:1", CT_AGENT_PROXY_AUTH: "user:s3cret\nx" }, "CT_AGENT_PROXY_AUTH"],
    [{ CT_AGENT_PROXY: "environment", HTTPS_PROXY: "socks5://user:s3cret@proxy.example:1080" }, "HTTPS_PROXY"]
  ])("refuses %o by name, without repeating a secret", ([given, named]) =>
    Effect.gen(function* () {
      const refused = yield* read(given)
      const message = Result.isFailure(refused) ? refused.failure.message : "taken"
      assert.include(message, named)
      assert.notInclude(message, "s3cret")
    })
  )
})
