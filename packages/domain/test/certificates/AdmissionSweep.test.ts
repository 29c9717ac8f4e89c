import {
  type AdmissionEffect,
  type AdmissionState,
  type AdmissionStep,
  authorize,
  backOff,
  confirmRevert,
  issued as certificateIssued,
  offerSeconds,
  reclaim,
  view
} from "@catenet/domain/certificates/Admission"
import type { ClaimNotLapsed, NotHostnameOwner } from "@catenet/domain/certificates/AdmissionErrors"
import { sweep } from "@catenet/domain/certificates/AdmissionSweep"
import { registeredDomain } from "@catenet/domain/certificates/CertificateBudget"
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { between, history, often } from "../values/history.ts"

const hosts = ["a.one.example", "b.one.example", "c.one.example", "d.two.example", "e.two.example", "three.example"]
const authority = (name: string, weeklyBudget: number) => ({
  name,
  directoryUrl: `https://${name}.example`,
  requiresEab: false,
  weeklyBudget
})
const authorities = [authority("big", 3), authority("small", 1)]
const hour = 3600
const week = 7 * 24 * hour

const Wait = between(0, 30 * hour)
const Host = between(0, hosts.length - 1)
const Event = Schema.Union([
  Schema.TaggedStruct("Authorize", { wait: Wait, host: Host }),
  Schema.TaggedStruct("Issued", { wait: Wait, host: Host }),
  Schema.TaggedStruct("Reclaim", { wait: Wait, host: Host }),
  Schema.TaggedStruct("RevertConfirmed", { wait: Wait, host: Host }),
  Schema.TaggedStruct("Sweep", { wait: Wait }),
  Schema.TaggedStruct("Sweep", { wait: Wait })
])

interface Logged {
  readonly ca: string
  readonly host: string
  readonly domain: string
  readonly at: number
}

describe("admission over random histories", () => {
  it.prop(
    "budgets hold, no hostname starves and none goes back",
    [history(Event)],
    ([events]) => {
      const states = new Map<string, AdmissionState>(hosts.map((host) => [host, { _tag: "Rot" }]))
      const authorized = new Set<string>()
      const log: Array<Logged> = []
      let now = 1_000_000
      const stateOf = (host: string): AdmissionState => states.get(host) ?? { _tag: "Rot" }
      const open = (ca: string, domain: string) =>
        hosts.filter((host) => {
          const state = stateOf(host)
          return (
            registeredDomain(host) === domain &&
            state._tag === "Gelb" &&
            state.slot._tag === "Offered" &&
            state.slot.ca === ca
          )
        }).length
      const issued = (ca: string, domain: string) =>
        log.filter((entry) => entry.ca === ca && entry.domain === domain && entry.at > now - week).length
      const perform = (host: string, next: AdmissionState, effects: ReadonlyArray<AdmissionEffect>) => {
        const before = stateOf(host)
        const rank = { Rot: 0, Gelb: 1, Gruen: 2 }
        assert.isTrue(rank[next._tag] >= rank[before._tag], "a hostname never goes back")
        for (const effect of effects) {
          if (effect._tag === "LogIssuance") {
            const last = log.findLast((entry) => entry.host === host)
            assert.isTrue(last === undefined || now - last.at >= 24 * hour, "one log row a day and hostname")
            log.push({ ca: effect.ca, host, domain: registeredDomain(host), at: now })
          } else {
            assert.strictEqual(effect.tier, next._tag === "Gruen" ? "passthrough" : "gelb")
          }
        }
        states.set(host, next)
      }

      for (const event of events) {
        now += event.wait
        if (event._tag === "Sweep") {
          const before = new Map(states)
          const swept = sweep(
            hosts.map((hostname) => ({
              hostname,
              authorized: authorized.has(hostname),
              isGuarded: false,
              state: stateOf(hostname)
            })),
            log,
            authorities,
            now
          )
          for (const { effects, hostname, next } of swept) perform(hostname, next, effects)
          for (const host of hosts) {
            const [was, is] = [before.get(host), stateOf(host)]
            if (was?._tag === "Rot") assert.strictEqual(is._tag !== "Rot", authorized.has(host))
            if (was?._tag === "Gruen") assert.deepStrictEqual(is, was)
            const change = swept.find((s) => s.hostname === host)
            if (was?._tag === "Gelb" && change !== undefined) {
              const offer = is?._tag === "Gelb" && is.slot._tag === "Offered" ? is.slot.deadline : undefined
              // An edge lets the authority in until the offer ends.
              const tier = { _tag: "SetTier", tier: "gelb" } as const
              assert.deepStrictEqual(change.effects, offer === undefined ? [] : [{ ...tier, admissionUntil: offer }])
              assert.notDeepEqual(is, was, "no order without a change")
            }
            if (was?._tag === "Gruen" && !was.pendingRevert) assert.isUndefined(change)
            if (was?._tag === "Gruen" && was.pendingRevert) {
              assert.deepStrictEqual(swept.find((s) => s.hostname === host)?.effects, [
                { _tag: "SetTier", tier: "passthrough" }
              ])
            }
            if (is._tag !== "Gelb") continue
            if (is.slot._tag === "Offered") assert.isTrue(is.slot.deadline > now, "no offer outlives its deadline")
            if (is.slot._tag === "Lapsed") assert.isTrue(is.slot.retryAt > now, "no lapse outlives its back-off")
            const fresh = is.slot._tag === "Offered" && is.slot.deadline === now + offerSeconds
            if (fresh && is.slot._tag === "Offered") {
              const { ca } = is.slot
              const budget = authorities.find((a) => a.name === ca)?.weeklyBudget ?? 0
              const domain = registeredDomain(host)
              assert.isTrue(issued(ca, domain) + open(ca, domain) <= budget, "a budget is never exceeded by an offer")
            }
            if (is.slot._tag === "Queued") {
              const { queuedAt } = is.slot
              for (const { name, weeklyBudget } of authorities) {
                const domain = registeredDomain(host)
                assert.isTrue(issued(name, domain) + open(name, domain) >= weeklyBudget, "head-room is not left unused")
              }
              for (const other of hosts.filter((h) => registeredDomain(h) === registeredDomain(host))) {
                const [was, now_] = [before.get(other), stateOf(other)]
                const jumped = was?._tag === "Gelb" && was.slot._tag === "Queued" && was.slot.queuedAt > queuedAt
                if (jumped)
                  assert.isFalse(now_._tag === "Gelb" && now_.slot._tag === "Offered", "no hostname jumps the queue")
              }
            }
          }
          continue
        }
        const host = hosts[event.host] ?? ""
        const state = stateOf(host)
        if (event._tag === "Authorize") authorized.add(host)
        const decide = (): Result.Result<AdmissionStep, ClaimNotLapsed | NotHostnameOwner> => {
          switch (event._tag) {
            case "Authorize":
              return Result.succeed(authorize(state, now))
            case "Issued":
              return certificateIssued(state, now)
            case "Reclaim":
              return reclaim(state, now)
            case "RevertConfirmed":
              return Result.succeed(confirmRevert(state))
          }
        }
        const answer = decide()
        if (Result.isSuccess(answer)) perform(host, answer.success.next, answer.success.effects)
        if (event._tag === "Issued") assert.strictEqual(Result.isSuccess(answer), state._tag !== "Rot")
        const seen = view(stateOf(host), now)
        assert.strictEqual(seen.status, stateOf(host)._tag.toLowerCase() as typeof seen.status)
        if (seen.ca !== null) assert.isTrue(seen.mayIssueNow)
      }
    },
    often
  )

  it.prop(
    "every hostname of a quiet system gets its certificate offered in time",
    [between(1, 40)],
    ([count]) => {
      const fleet = new Map<string, AdmissionState>(
        Array.from({ length: count }, (_, i) => [`h${i}.crowd.example`, { _tag: "Rot" }])
      )
      const log: Array<{ ca: string; domain: string; at: number }> = []
      let now = 0
      // Four certificates a week for the domain, and every offer is taken at once.
      for (let tick = 0; tick <= Math.ceil(count / 4) * 7; tick++, now += 24 * hour) {
        const all = [...fleet].map(([hostname, state]) => ({ hostname, authorized: true, isGuarded: false, state }))
        for (const { hostname, next } of sweep(all, log, authorities, now)) {
          const done = next._tag === "Gelb" && next.slot._tag === "Offered" ? certificateIssued(next, now) : undefined
          if (done === undefined || Result.isFailure(done)) {
            fleet.set(hostname, next)
            continue
          }
          fleet.set(hostname, done.success.next)
          for (const effect of done.success.effects)
            if (effect._tag === "LogIssuance") log.push({ ca: effect.ca, domain: registeredDomain(hostname), at: now })
        }
      }
      assert.isTrue([...fleet.values()].every((state) => state._tag === "Gruen"))
      assert.strictEqual(log.length, count)
    },
    often
  )

  it("an offer that is not taken comes again, later each time", () => {
    let fleet: AdmissionState = { _tag: "Gelb", slot: { _tag: "Queued", queuedAt: 0, lapses: 0, ca: null } }
    const offeredAt: Array<number> = []
    for (let now = 0; now < 30 * 24 * hour; now += 60) {
      const [swept] = sweep(
        [{ hostname: "a.one.example", authorized: true, isGuarded: false, state: fleet }],
        [],
        authorities,
        now
      )
      if (swept === undefined) continue
      fleet = swept.next
      if (fleet._tag === "Gelb" && fleet.slot._tag === "Offered") offeredAt.push(now)
    }
    const gaps = offeredAt.slice(1).map((at, i) => at - (offeredAt[i] ?? 0) - offerSeconds)
    assert.deepStrictEqual(gaps, [1, 2, 3, 4, 5, 6].map(backOff))
  })

  it("an untouched hostname is not reported", () => {
    const rot = { hostname: "a.one.example", authorized: false, isGuarded: false, state: { _tag: "Rot" } as const }
    assert.deepStrictEqual(sweep([rot], [], authorities, 5), [])
  })
})
