import { certificateAuthorities, offerable } from "@catenet/domain/certificates/CertificateAuthorities"
import { allocate, budgetWindow, type Issuance, registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { between, often } from "../values/history.ts"

const authority = (name: string, weeklyBudget: number) => ({
  name,
  directoryUrl: `https://${name}.example`,
  requiresEab: false,
  weeklyBudget
})
const domains = ["one.example", "two.example"]
const Row = Schema.Struct({
  ca: Schema.Literals(["p", "q"]),
  domain: Schema.Literals(domains),
  at: between(0, 1_500_000)
})
const Hosts = Schema.Array(Schema.Struct({ domain: Schema.Literals(domains), queuedAt: between(0, 9) })).pipe(
  Schema.check(Schema.isMaxLength(12))
)

describe("certificate budgets", () => {
  it.prop(
    "allocation equals asking for one hostname after the other",
    { issued: Schema.Array(Row), open: Schema.Array(Row), hosts: Hosts, p: between(0, 5), q: between(0, 5) },
    ({ hosts, issued, open, p, q }) => {
      const now = 1_500_000
      const queue = hosts.map(({ domain, queuedAt }, i) => ({ hostname: `h${i % 10}${i}.${domain}`, queuedAt }))
      const authorities = [authority("p", p), authority("q", q)]
      const offers = open.map(({ ca, domain }) => ({ ca, domain }))
      const expected: Array<{ hostname: string; ca: string }> = []
      const waiting = [...queue]
      while (waiting.length > 0) {
        let first = 0
        waiting.forEach((w, i) => {
          const f = waiting[first] ?? w
          if (w.queuedAt < f.queuedAt || (w.queuedAt === f.queuedAt && w.hostname < f.hostname)) first = i
        })
        const [{ hostname } = { hostname: "" }] = waiting.splice(first, 1)
        const domain = hostname.split(".").slice(1).join(".")
        const room = (ca: string, budget: number) =>
          budget -
          issued.filter((r) => r.ca === ca && r.domain === domain && r.at > now - budgetWindow).length -
          offers.filter((o) => o.ca === ca && o.domain === domain).length
        const [roomP, roomQ] = [room("p", p), room("q", q)]
        if (Math.max(roomP, roomQ) <= 0) continue
        const ca = roomP >= roomQ ? "p" : "q"
        offers.push({ ca, domain })
        expected.push({ hostname, ca })
      }
      assert.deepStrictEqual(allocate(authorities, queue, issued, open, now), expected)
    },
    often
  )

  it("the window slides: a certificate counts for exactly seven days", () => {
    const queue = [{ hostname: "a.one.example", queuedAt: 0 }]
    const issued = [{ ca: "p", domain: "one.example", at: 1000 }]
    assert.strictEqual(budgetWindow, 7 * 86_400)
    assert.deepStrictEqual(allocate([authority("p", 1)], queue, issued, [], 1000 + budgetWindow - 1), [])
    assert.strictEqual(allocate([authority("p", 1)], queue, issued, [], 1000 + budgetWindow).length, 1)
  })

  it("a domain without head-room does not block the domains behind it", () => {
    const queue = [
      { hostname: "a.one.example", queuedAt: 1 },
      { hostname: "b.two.example", queuedAt: 2 }
    ]
    const open = [{ ca: "p", domain: "one.example" }]
    assert.deepStrictEqual(allocate([authority("p", 1)], queue, [], open, 5), [{ hostname: "b.two.example", ca: "p" }])
  })

  it("an account gets a quarter of an authority's certificates for a shared domain, and does not block the others", () => {
    const queue = [..."abcdef"].map((name, i) => ({
      hostname: `${name}.one.example`,
      queuedAt: i,
      account: name === "f" ? "other" : "greedy"
    }))
    const offered = (budget: number, issued: ReadonlyArray<Issuance>) =>
      allocate([authority("p", budget)], queue, issued, [], 5).map(({ hostname }) => hostname[0])
    assert.deepStrictEqual(offered(8, []), ["a", "b", "f"])
    const issued = { ca: "p", domain: "one.example", account: "greedy", at: 1 }
    assert.deepStrictEqual(offered(8, [issued]), ["a", "f"])
    assert.deepStrictEqual(offered(8, [issued, issued]), ["f"])
    assert.deepStrictEqual(offered(8, [{ ...issued, account: undefined }]), ["a", "b", "f"])
    assert.deepStrictEqual(offered(1, []), ["a"])
  })

  it("does not mistake one pair of authority and domain for another", () => {
    const queue = [{ hostname: "a.one.example", queuedAt: 0 }]
    const issued = [{ ca: "p", domain: "qone.example", at: 0 }]
    assert.deepStrictEqual(allocate([authority("pq", 1)], queue, issued, [], 1), [
      { hostname: "a.one.example", ca: "pq" }
    ])
  })

  it("names the domain whose budget is used", () => {
    assert.strictEqual(registeredDomain("a.b.example.net"), "b.example.net")
    assert.strictEqual(registeredDomain("a.example.net"), "example.net")
    assert.strictEqual(registeredDomain("example.net"), "example.net")
    assert.strictEqual(registeredDomain("localhost"), "localhost")
  })

  it("offers only authorities with a budget and, where needed, an account binding", () => {
    assert.deepStrictEqual(
      certificateAuthorities.map((ca) => [ca.name, ca.directoryUrl, ca.requiresEab, ca.weeklyBudget]),
      [
        ["letsencrypt", "https://acme-v02.api.letsencrypt.org/directory", false, 40],
        ["zerossl", "https://acme.zerossl.com/v2/DV90", true, 200],
        ["google-trust-services", "https://dv.acme-v02.api.pki.goog/directory", true, 40],
        ["ssl.com", "https://acme.ssl.com/sslcom-dv/directory", true, 0],
        ["letsencrypt-staging", "https://acme-staging-v02.api.letsencrypt.org/directory", false, 0]
      ]
    )
    assert.strictEqual(offerable(new Set(), [authority("one", 1), authority("none", 0)]).length, 1)
    const all = new Set(certificateAuthorities.map((ca) => ca.name))
    assert.deepStrictEqual(
      offerable(all).map((ca) => ca.name),
      ["letsencrypt", "zerossl", "google-trust-services"]
    )
    assert.deepStrictEqual(
      offerable(new Set(["ssl.com"])).map((ca) => ca.name),
      ["letsencrypt"]
    )
  })
})
