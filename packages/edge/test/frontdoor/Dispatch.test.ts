import { assert, describe, it } from "@effect/vitest"
import { type Destination, dispatch, dispatchMesh } from "../../src/frontdoor/Dispatch.ts"

const hello = (serverName: string | undefined, ...alpn: ReadonlyArray<string>) => ({
  serverName,
  alpn,
  ech: false,
  earlyData: false
})
const tunnel = (speaks: "acme" | "http" | "unknown"): Destination => ({
  _tag: "Tunnel",
  host: "app.test",
  speaks,
  earlyData: false
})
const isPlatformHost = (host: string) => host === "portal.test"
const to = (...of: Parameters<typeof hello>) => dispatch(hello(...of), isPlatformHost, "portal.test")

describe("the front door decides by", () => {
  it("protocol before name, name before default", () => {
    const cases: ReadonlyArray<readonly [Destination, Destination]> = [
      [to("localhost", "ct-edge-mux", "ct-edge"), { _tag: "Mux" }],
      [to("portal.test", "h2", "ct-edge"), { _tag: "Bytes" }],
      [to(undefined, "ct-edge"), { _tag: "Bytes" }],
      [to("portal.test", "http/1.1", "ct-edge-channel"), { _tag: "Channel" }],
      [to(undefined, "ct-edge-channel-ka"), { _tag: "Channel" }],
      [to("portal.test", "ct-edge-channel", "ct-edge"), { _tag: "Bytes" }],
      [to("portal.test", "h2", "ct-edge-relay"), { _tag: "RelayGate" }],
      [to("edge-cdn.invalid", "ct-edge-relay"), { _tag: "RelayGate" }],
      [to("edge-cdn.invalid", "ct-edge-relay", "ct-edge-channel"), { _tag: "Channel" }],
      [to("edge-cdn.invalid"), { _tag: "Channel" }],
      [to("edge-cdn.invalid", "h2", "mqtt"), { _tag: "Channel" }],
      [to("app.test", "CT-EDGE-CHANNEL"), tunnel("unknown")],
      [to("portal.test", "h2"), { _tag: "PlatformHost", host: "portal.test" }],
      [to("app.test", "h2", "http/1.1"), tunnel("http")],
      [to("app.test", "acme-tls/1"), tunnel("acme")],
      [to("app.test", "acme-tls/1", "http/1.1"), tunnel("http")],
      [to("app.test", "h2", "acme-tls/1"), tunnel("http")],
      [to("app.test", "acme-tls/1", "mqtt"), tunnel("unknown")],
      [to("app.test", "acme-tls/1", "acme-tls/1"), tunnel("unknown")],
      [to("app.test", "mqtt"), tunnel("unknown")],
      [to("app.test"), tunnel("unknown")],
      [to(undefined, "http/1.1"), { _tag: "PlatformHost", host: "portal.test" }],
      [to(undefined), { _tag: "Nowhere" }],
      [to(undefined, "mqtt"), { _tag: "Nowhere" }],
      [to("app.test", "CT-EDGE"), tunnel("unknown")]
    ]
    for (const [decided, expected] of cases) assert.deepStrictEqual(decided, expected)
  })

  it("nothing without a default host", () => {
    assert.deepStrictEqual(dispatch(hello(undefined, "h2"), isPlatformHost, undefined), { _tag: "Nowhere" })
  })

  it("protocol alone on the mesh port, where all other connections are the byte protocol", () => {
    assert.deepStrictEqual(dispatchMesh(hello("localhost", "ct-edge-mux")), { _tag: "Mux" })
    assert.deepStrictEqual(dispatchMesh(hello("localhost", "ct-edge")), { _tag: "Bytes" })
    assert.deepStrictEqual(dispatchMesh(hello(undefined)), { _tag: "Bytes" })
  })
})
