import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { routeTable } from "../../src/routes/Routes.ts"
import { tunnelName } from "../../src/routes/TunnelName.ts"

const Host = Schema.Literals(["a.test", "b.test", "c.test"])
const Token = Schema.Literals(["1", "2", "3"])
const Event = Schema.Union([
  Schema.TaggedStruct("Authorize", { host: Host, token: Token, tier: Schema.Literals(["gelb", "passthrough"]) }),
  Schema.TaggedStruct("Bind", { host: Host, token: Token }),
  Schema.TaggedStruct("Revoke", { token: Token })
])

const hosts = ["a.test", "b.test", "c.test"]
const tokens = ["1", "2", "3"]

describe("Routes", () => {
  it("gives a host to the token that was authorized last, in the tier of that order", () => {
    const routes = routeTable(true)
    routes.authorize("a.test", { token: "1", tier: "gelb", admissionUntil: 7 })
    assert.deepStrictEqual(routes.find("a.test"), { token: "1", tier: "gelb", admissionUntil: 7 })
    routes.authorize("a.test", { token: "1", tier: "passthrough", admissionUntil: null })
    assert.deepStrictEqual(routes.find("a.test"), { token: "1", tier: "passthrough", admissionUntil: null })
    routes.authorize("a.test", { token: "2", tier: "gelb", admissionUntil: null })
    assert.strictEqual(routes.bind("a.test", "1"), "host-taken")
    assert.strictEqual(routes.bind("a.test", "2"), undefined)
    assert.isFalse(routes.knows("1"))
  })

  it("knows the account of a tunnel as long as a host leads to it, and its successor's after a rotation", () => {
    const routes = routeTable(true)
    routes.authorize("a.test", { token: "01", tier: "gelb", admissionUntil: null, account: "acc" })
    routes.authorize("a.test", { token: "01", tier: "passthrough", admissionUntil: null })
    assert.strictEqual(routes.accountOf("01"), "acc", "an order without one leaves it")
    routes.revoke("01", "02")
    assert.deepStrictEqual([routes.accountOf("01"), routes.accountOf("02")], [undefined, "acc"])
    const order = routes.orders().find(({ _tag }) => _tag === "AuthorizeHost")
    assert.deepInclude(order ?? {}, { token: "02", account: "acc" })
    routes.authorize("a.test", { token: "03", tier: "gelb", admissionUntil: null })
    assert.deepStrictEqual([routes.accountOf("02"), routes.accountOf("03")], [undefined, undefined])
  })

  it("leads a visitor by the host's own route, then by the wildcard of its parent, and no agent takes either from another", () => {
    const routes = routeTable(false)
    const wild = { token: "01", tier: "gelb", admissionUntil: null } as const
    const passed = { ...wild, tier: "passthrough" } as const
    routes.authorize("*.dev.test", wild)
    assert.deepStrictEqual(routes.find("x.dev.test"), passed, "nobody but the agent has a certificate")
    for (const host of ["dev.test", "a.b.dev.test", "test"]) assert.isUndefined(routes.find(host), host)
    assert.strictEqual(routes.bind("x.dev.test", "02"), "host-taken")
    assert.strictEqual(routes.bind("*.dev.test", "02"), "host-taken")
    assert.strictEqual(routes.bind("*.other.test", "02"), "host-not-authorized")
    assert.isUndefined(routes.bind("*.dev.test", "01"))
    routes.authorize("x.dev.test", { ...passed, token: "02" })
    assert.deepStrictEqual([routes.find("x.dev.test")?.token, routes.find("y.dev.test")?.token], ["02", "01"])
    const restored = routeTable(true)
    for (const order of routes.orders())
      if (order._tag === "AuthorizeHost")
        restored.authorize(order.hostname, { token: order.token, tier: order.tier, admissionUntil: null })
    assert.deepStrictEqual([restored.find("x.dev.test")?.token, restored.find("y.dev.test")?.token], ["02", "01"])
    routes.revoke("01", "03")
    assert.strictEqual(routes.find("y.dev.test")?.token, "03", "a rotation")
    routes.revoke("03")
    assert.isUndefined(routes.find("y.dev.test"))
    assert.strictEqual(routes.find("x.dev.test")?.token, "02")
  })

  it("releases a host from the token that it leads to, and from no other", () => {
    const routes = routeTable(true)
    for (const host of ["a.test", "b.test"])
      routes.authorize(host, { token: "01", tier: "gelb", admissionUntil: null, account: "acc" })
    routes.release("a.test", "02")
    assert.strictEqual(routes.find("a.test")?.token, "01")
    routes.release("a.test", "01")
    assert.isUndefined(routes.find("a.test"))
    assert.deepStrictEqual([routes.find("b.test")?.token, routes.accountOf("01")], ["01", "acc"])
  })

  it("leads the hosts of a replaced token to the newest one, in whatever order the orders arrive", () => {
    const rotations = [
      ["01", "02"],
      ["02", "03"],
      ["03", "04"]
    ] as const
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 0, 2],
      [2, 0, 1, 0]
    ]) {
      const routes = routeTable(true)
      routes.authorize("a.test", { token: "01", tier: "gelb", admissionUntil: 7 })
      for (const n of order) {
        const [token, successor] = rotations[n] ?? assert.fail()
        routes.revoke(token, successor)
      }
      assert.deepStrictEqual(routes.find("a.test"), { token: "04", tier: "gelb", admissionUntil: 7 })
      assert.strictEqual(routes.recordsOf("04"), tunnelName("01"))
      assert.isTrue(["01", "02", "03"].every(routes.isRevoked))
    }
  })

  it("leaves a host that leads to another tunnel by now", () => {
    const routes = routeTable(true)
    routes.authorize("a.test", { token: "01", tier: "gelb", admissionUntil: null })
    routes.authorize("a.test", { token: "09", tier: "gelb", admissionUntil: null })
    routes.revoke("01", "02")
    assert.strictEqual(routes.find("a.test")?.token, "09")
  })

  it("revokes a token at a cost that does not grow with the number of other tunnels", () => {
    const spent = (count: number) => {
      const routes = routeTable(true)
      const tokenOf = (n: number) => n.toString(16).padStart(8, "0")
      for (let n = 0; n < count; n++)
        routes.authorize(`h${n}.test`, { token: tokenOf(n), tier: "gelb", admissionUntil: null })
      const from = performance.now()
      for (let n = 0; n < 400; n++) routes.revoke(tokenOf(n), n % 2 === 0 ? tokenOf(count + n) : undefined)
      return performance.now() - from
    }
    const least = (count: number) => Math.min(...Array.from({ length: 3 }, () => spent(count)))
    const few = least(2_000)
    // Copied as a whole, the table of the second takes 64 times as long.
    assert.isBelow(least(128_000) / few, 16)
  })

  it("binds unknown hosts only where no host authorization is required", () => {
    assert.strictEqual(routeTable(true).bind("a.test", "1"), "host-not-authorized")
    const open = routeTable(false)
    assert.strictEqual(open.bind("a.test", "1"), undefined)
    assert.strictEqual(open.bind("a.test", "2"), "host-taken")
  })

  it.prop(
    "forgets a revoked token for good and knows exactly the tokens that hosts lead to",
    [Schema.Array(Event)],
    ([history]) => {
      const routes = routeTable(false)
      const revoked = new Set<string>()
      for (const event of history) {
        if (event._tag === "Authorize" && !revoked.has(event.token))
          routes.authorize(event.host, { token: event.token, tier: event.tier, admissionUntil: null })
        if (event._tag === "Bind") {
          const refusal = routes.bind(event.host, event.token)
          assert.strictEqual(refusal === undefined, routes.find(event.host)?.token === event.token)
        }
        if (event._tag === "Revoke") {
          revoked.add(event.token)
          routes.revoke(event.token)
        }
        for (const token of tokens) {
          const leads = hosts.some((host) => routes.find(host)?.token === token)
          assert.strictEqual(routes.knows(token), leads)
          assert.strictEqual(routes.isRevoked(token), revoked.has(token))
          if (revoked.has(token)) assert.isFalse(leads)
        }
        assert.sameDeepMembers(
          [...routes.dump()],
          hosts.flatMap((hostname) => {
            const token = routes.find(hostname)?.token
            return token === undefined ? [] : [{ hostname, token }]
          })
        )
      }
    }
  )
})
