/**
 * A whole platform that waits for its certificates: weeks of it by the pure machine, with offers that are taken late, that fail, and
 * that are not taken. `CATENET_NAMES` says how many names.
 */
import { type AdmissionState, backOff, issued, offerSeconds } from "@catenet/domain/certificates/Admission"
import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
import { budgetWindow, registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const count = Number(process.env["CATENET_NAMES"] ?? 2000)
const day = 86_400
const authorities = [
  { name: "big", directoryUrl: "https://big.example", requiresEab: false, weeklyBudget: 40 },
  { name: "small", directoryUrl: "https://small.example", requiresEab: false, weeklyBudget: 5 }
]
const perWeek = 45

interface Name {
  readonly hostname: string
  readonly domain: string
  /** The first offers that its agent lets lapse. */
  readonly sleeps: number
  state: AdmissionState
  lapses: number
  lapsedAt: number | undefined
  offeredAt: number | undefined
}

/** Twenty names to a domain, and a tenth of all in a crowd. */
const domainOf = (n: number) => (n % 10 === 0 ? "crowd.example" : `d${n % Math.ceil(count / 20)}.example`)

describe(`the queue of ${count} names`, () => {
  it("keeps budgets, the order of each domain, the window of 48 h and the back-off, and ends with all of them gruen", () => {
    const names = Array.from({ length: count }, (_, n): Name => {
      const domain = domainOf(n)
      const hostname = `h${n}.${domain}`
      return {
        hostname,
        domain: registeredDomain(hostname),
        sleeps: n % 7 === 3 ? 1 + (n % 3) : 0,
        state: { _tag: "Rot" },
        lapses: 0,
        lapsedAt: undefined,
        offeredAt: undefined
      }
    })
    const of = new Map<string, Name>(names.map((name) => [name.hostname, name]))
    let log: Array<{ ca: string; domain: string; at: number }> = []
    let now = 1_000_000
    const weeks = Math.ceil(count / 10 / perWeek) + 4
    const isDone = () => names.every(({ state }) => state._tag === "Gruen")
    for (const end = now + weeks * budgetWindow; now < end && !isDone(); now += day / 2) {
      const waiting = new Map<string, number>()
      for (const { hostname, state } of names)
        if (state._tag === "Gelb" && state.slot._tag === "Queued") waiting.set(hostname, state.slot.queuedAt)
        else if (state._tag === "Rot") waiting.set(hostname, now)
      log = log.filter(({ at }) => now - at < budgetWindow)
      const candidates = names.flatMap(({ hostname, state }) =>
        state._tag === "Gruen" ? [] : [{ hostname, authorized: true, isGuarded: false, state }]
      )
      for (const { hostname, next } of sweep(candidates, log, authorities, now)) {
        const name = of.get(hostname) ?? assert.fail(hostname)
        const before = name.state
        if (next._tag === "Gelb" && next.slot._tag === "Lapsed") {
          assert.isTrue(before._tag === "Gelb" && before.slot._tag === "Offered" && before.slot.deadline <= now)
          name.lapses++
          name.lapsedAt = now
          assert.strictEqual(next.slot.retryAt, now + backOff(name.lapses))
        }
        if (next._tag === "Gelb" && next.slot._tag === "Offered") {
          assert.strictEqual(next.slot.deadline, now + offerSeconds)
          if (name.lapsedAt !== undefined) assert.isAtLeast(now - name.lapsedAt, backOff(name.lapses))
          name.offeredAt = now
        }
        name.state = next
      }
      // In each domain those that were offered came before those that wait on.
      const latest = new Map<string, number>()
      const spent = new Map<string, number>()
      const spend = (ca: string, domain: string) =>
        spent.set(`${ca} ${domain}`, (spent.get(`${ca} ${domain}`) ?? 0) + 1)
      for (const { ca, domain } of log) spend(ca, domain)
      for (const { domain, hostname, offeredAt, state } of names) {
        if (state._tag !== "Gelb" || state.slot._tag !== "Offered") continue
        spend(state.slot.ca, domain)
        if (offeredAt === now) latest.set(domain, Math.max(latest.get(domain) ?? 0, waiting.get(hostname) ?? 0))
      }
      for (const { domain, state } of names)
        if (state._tag === "Gelb" && state.slot._tag === "Queued") {
          assert.isAtLeast(state.slot.queuedAt, latest.get(domain) ?? 0, "no name jumps the queue of its domain")
          for (const { name, weeklyBudget } of authorities)
            assert.strictEqual(spent.get(`${name} ${domain}`), weeklyBudget, "no head-room is left unused")
        }
      for (const { name, weeklyBudget } of authorities)
        for (const [key, certificates] of spent)
          if (key.startsWith(`${name} `)) assert.isAtMost(certificates, weeklyBudget, key)
      for (const name of names) {
        const { domain, lapses, sleeps, state } = name
        if (state._tag !== "Gelb" || state.slot._tag !== "Offered" || lapses < sleeps) continue
        const { effects, next } = Result.getOrThrow(issued(state, now))
        name.state = next
        for (const effect of effects) if (effect._tag === "LogIssuance") log.push({ ca: effect.ca, domain, at: now })
      }
    }
    assert.isTrue(isDone(), `${names.filter(({ state }) => state._tag !== "Gruen").length} names starve`)
  })
})
