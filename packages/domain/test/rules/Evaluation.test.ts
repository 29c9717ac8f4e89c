import { AddressRange, isWithin } from "@catenet/domain/rules/AddressRange"
import { type Decision, evaluate, type RequestFacts, type RateCounters } from "@catenet/domain/rules/Evaluation"
import { merge } from "@catenet/domain/rules/Merge"
import { Rules } from "@catenet/domain/rules/Rules"
import { propertyRuns } from "@catenet/testing/runs"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"

const read = Schema.decodeUnknownSync(Rules)

const factsOf = (more: Partial<RequestFacts> = {}, fields: Readonly<Record<string, string>> = {}): RequestFacts => ({
  address: "10.1.2.3",
  method: "GET",
  target: "/",
  field: (name) => fields[name],
  identity: undefined,
  length: 0,
  ...more
})

/** So many of each key. */
const counting = (): RateCounters => {
  const spent = new Map<string, number>()
  return {
    spend: ({ rate }, key) => {
      const count = (spent.get(rate + key) ?? 0) + 1
      spent.set(rate + key, count)
      return count <= Number(rate.split("/")[0]) ? 0 : 1_500
    }
  }
}

const decide = (rules: unknown, facts: RequestFacts, counters = counting()): Decision =>
  evaluate(read(rules), facts, { now: 0, counters, block: (address) => address })

const facets = (decision: Decision) => ("status" in decision ? [decision.rule, decision.status] : decision._tag)

const hash = "ada:$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2g"
const basic = { authorization: "Basic YWRhOnM6ZWNyZXQ=" }
const ada = { email: "Ada@Example.net" }
const asking = { origin: "https://app.example.net", "access-control-request-method": "PUT" }
const cors = { cors: { origins: ["https://app.example.net"] } }

describe("the evaluator", () => {
  it.each([
    ["no rule", [], factsOf(), "Passes"],
    ["an address in a range", [{ allow: ["10.0.0.0/8"] }], factsOf(), "Passes"],
    ["an address in none", [{ allow: ["10.2.0.0/16"] }], factsOf(), ["allow", 403]],
    ["an unknown address", [{ allow: ["0.0.0.0/0", "::/0"] }], factsOf({ address: "unknown" }), ["allow", 403]],
    ["a visitor who is not known", [{ require_login: true }], factsOf(), ["require_login", 401]],
    ["a visitor who is", [{ require_login: true }], factsOf({ identity: ada }), "Passes"],
    [
      "an e-mail in any case",
      [{ require_login: { emails: ["ada@example.net"] } }],
      factsOf({ identity: ada }),
      "Passes"
    ],
    ["a domain", [{ require_login: { domains: ["example.net"] } }], factsOf({ identity: ada }), "Passes"],
    ["a domain below", [{ require_login: { domains: ["net"] } }], factsOf({ identity: ada }), ["require_login", 403]],
    ["no password", [{ basic_auth: { users: [hash] } }], factsOf(), ["basic_auth", 401]],
    ["a password", [{ basic_auth: { users: [hash] } }], factsOf({}, basic), "Asks"],
    ["a certificate over HTTP", [{ mtls: { ca: "a.pem" } }], factsOf(), ["mtls", 403]],
    [
      "a path that leads elsewhere",
      [{ redirect: { from: "/a", to: "/b" } }],
      factsOf({ target: "/a" }),
      ["redirect", 308]
    ],
    ["another path", [{ redirect: { from: "/a", to: "/b" } }], factsOf({ target: "/ab" }), "Passes"],
    ["a body of the longest length", [{ max_body: "1 KiB" }], factsOf({ length: 1024 }), "Passes"],
    ["a longer one", [{ max_body: "1 KiB" }], factsOf({ length: 1025 }), ["max_body", 413]],
    [
      "a preflight",
      [{ require_login: true }, { basic_auth: { users: [hash] } }, cors],
      factsOf({ method: "OPTIONS" }, asking),
      ["cors", 200]
    ]
  ])("decides about %s", (_, rules, facts, expected) => assert.deepStrictEqual(facets(decide(rules, facts)), expected))

  it.each([
    ["/old/*", "/new/*", "/old/a?b=1", "/new/a?b=1"],
    ["/old/*", "/*", "/old//elsewhere.test", "/elsewhere.test"],
    ["/old/*", "/*", "/old/\\elsewhere.test", "/elsewhere.test"],
    ["/old", "/new?a=1", "/old?b=1", "/new?a=1"],
    ["/*", "https://example.net/*", "/a", "https://example.net/a"]
  ])("redirects from %s to %s, and to no other host by the path: %s", (from, to, target, location) => {
    const decision = decide([{ redirect: { from, to } }], factsOf({ target }))
    assert.deepInclude(decision, { fields: { Location: location } })
  })

  it("asks the rules in their order, and none behind one that refuses", () => {
    const counters = counting()
    const limit = { rate_limit: { per: "address", rate: "1/m" } }
    const refused = [{ allow: ["192.0.2.0/24"] }, limit]
    assert.deepStrictEqual(facets(decide(refused, factsOf(), counters)), ["allow", 403])
    assert.strictEqual(decide([limit], factsOf(), counters)._tag, "Passes")
    const late = decide([limit], factsOf(), counters)
    assert.deepInclude(late, { rule: "rate_limit", fields: { "Retry-After": "2" } })
  })

  it("counts by address, by who is signed in, or all together", () => {
    for (const [per, other, expected] of [
      ["address", { address: "10.9.9.9", identity: ada }, "Passes"],
      ["session", { address: "10.9.9.9", identity: ada }, ["rate_limit", 429]],
      ["tunnel", { address: "10.9.9.9" }, ["rate_limit", 429]]
    ] as const) {
      const counters = counting()
      const rules = [{ rate_limit: { per, rate: "1/m" } }]
      assert.strictEqual(decide(rules, factsOf({ identity: ada }), counters)._tag, "Passes")
      assert.deepStrictEqual(facets(decide(rules, factsOf(other), counters)), expected as never, per)
    }
  })

  it("goes on behind a password that is known, and takes it from the origin", () => {
    const asked = decide([{ basic_auth: { users: [hash] } }, { max_body: "1 KiB" }], factsOf({}, basic))
    if (asked._tag !== "Asks") return assert.fail(asked._tag)
    assert.deepInclude(asked, { name: "ada", password: "s:ecret" })
    assert.deepStrictEqual(facets(asked.then(false)), ["basic_auth", 401])
    const passed = asked.then(true)
    assert.deepInclude(passed, {
      edits: {
        request: [{ key: "authorization", name: "Authorization", value: undefined }],
        response: [],
        maxBody: 1024
      }
    })
  })

  it("names the origins that may read an answer, and no other", () => {
    const response = (origin: string) => {
      const decision = decide([cors], factsOf({}, { origin }))
      return decision._tag === "Passes" ? decision.edits?.response.map(({ name, value }) => `${name}: ${value}`) : []
    }
    const own = ["Access-Control-Allow-Origin: https://app.example.net", "Vary: Origin"]
    assert.deepStrictEqual(response("https://app.example.net"), own)
    assert.deepStrictEqual(response("https://evil.example"), ["Vary: Origin"])
    const refused = decide([cors], factsOf({ method: "OPTIONS" }, { ...asking, origin: "https://evil.example" }))
    assert.notProperty("fields" in refused ? refused.fields : {}, "Access-Control-Allow-Origin")
  })
})

const Places = Schema.Array(
  Schema.Literals(["10.0.0.0/8", "10.1.0.0/16", "10.1.2.0/24", "192.0.2.0/24", "::/0", "2001:db8::/32"])
).check(Schema.isMaxLength(4))
const Sizes = Schema.Literals(["1 KiB", "2 KiB", "1 MiB"])
const AnyRules = Schema.Array(
  Schema.Union([
    Schema.Struct({ allow: Places }),
    Schema.Struct({ max_body: Sizes }),
    Schema.Struct({ require_login: Schema.Literal(true) }),
    Schema.Struct({
      rate_limit: Schema.Struct({ per: Schema.Literals(["address", "tunnel"]), rate: Schema.Literals(["1/m", "2/m"]) })
    })
  ])
).check(Schema.isMaxLength(5))
const Addresses = Schema.Literals(["10.1.2.3", "10.1.9.9", "10.9.9.9", "192.0.2.1", "2001:db8::1", "::1", "unknown"])
const Lengths = Schema.Literals([0, 1024, 1500, 4096, 2_000_000])
const runs = { arbitrary: { runs: propertyRuns } }

describe("the merge of two lists", () => {
  it.prop(
    "refuses what either refuses, and nothing else",
    [AnyRules, AnyRules, Addresses, Lengths, Schema.Boolean],
    ([a, b, address, length, known]) => {
      const facts = factsOf({ address, length, ...(known ? { identity: ada } : {}) })
      const passes = (rules: unknown) => decide(rules, facts)._tag === "Passes"
      assert.strictEqual(passes(merge(read(a), read(b))), passes(merge(read(a), [])) && passes(merge(read(b), [])))
    },
    runs
  )

  it.prop(
    "is idempotent, and the same in either order as to who passes",
    [AnyRules, AnyRules, Addresses, Lengths],
    ([a, b, address, length]) => {
      const once = merge(read(a), read(b))
      assert.deepStrictEqual(merge(once, once), once)
      const facts = factsOf({ address, length, identity: ada })
      const passes = (rules: Rules) => decide(rules, facts)._tag === "Passes"
      assert.strictEqual(passes(once), passes(merge(read(b), read(a))))
    },
    runs
  )

  it.prop(
    "intersects address ranges",
    [Places, Places, Addresses],
    ([a, b, address]) => {
      const ranges = (each: ReadonlyArray<string>) => each.map((range) => AddressRange.make(range))
      const [rule = {}] = merge([{ allow: ranges(a) }], [{ allow: ranges(b) }])
      assert.strictEqual(
        isWithin(rule.allow ?? [], address),
        isWithin(ranges(a), address) && isWithin(ranges(b), address)
      )
    },
    runs
  )
})
