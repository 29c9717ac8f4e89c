import { Reachability } from "@catenet/domain/tunnels/Reachability"
import { TokenSums, TunnelHistory, TunnelStatusReport } from "@catenet/domain/tunnels/TunnelTraffic"
import { Count, UnixSeconds } from "@catenet/domain/values/Numbers"
import { RoutingToken } from "@catenet/domain/values/Tokens"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as AddedUp from "../../src/edges/EdgeFactTotals.ts"

const day = 86_400
const midnight = 20_000 * day
const now = midnight + day / 2
const decode = Schema.decodeUnknownSync(TunnelHistory)
const token = Schema.decodeSync(RoutingToken)("ab".repeat(32))

/** One edge that served a tunnel from one hour of today to another, or until now. */
const served = (from: number, until: number | null, more: object = {}) => {
  const session = {
    transport: "mux",
    connected_at: midnight + from * 3600,
    disconnected_at: until === null ? null : midnight + until * 3600,
    reason: null,
    bytes_in: 1,
    bytes_out: 2
  }
  const days = [{ start: midnight, uptime_pct: 30, visitors: 5, bytes_in: 1, bytes_out: 2 }]
  return decode({
    open: until === null,
    uptime: { h24: 30, d7: 30, d30: 30 },
    sessions: [session],
    figures: { sessions: 1, visitors: 5, bytes_in: 1, bytes_out: 2, longest_outage_secs: 9 * 3600, days },
    ...more
  })
}

describe("the figures of several edges", () => {
  it("are added up, and a time counts once", () => {
    const { figures, uptime } = AddedUp.history([served(0, 4), served(3, 6)], 200, now)
    assert.deepInclude(figures, { sessions: 2, visitors: 10, bytes_in: 2, bytes_out: 4, longest_outage_secs: 6 * 3600 })
    assert.deepInclude(figures?.days[0], { visitors: 10, bytes_in: 2, bytes_out: 4, uptime_pct: 50 })
    assert.strictEqual(uptime.d30, 50)
  })

  it("leave out the time in which one of them was silent and the other did not serve", () => {
    const silences = [{ began_at: midnight + 2 * 3600, ended_at: midnight + 4 * 3600 }]
    const { uptime } = AddedUp.history([served(0, 4, { silences }), served(3, 6)], 200, now)
    assert.strictEqual(Math.round(uptime.d30 * 100), 4167)
  })

  it("are the best of one edge where the sessions are more than an edge gives", () => {
    const { figures, uptime } = AddedUp.history([served(0, 4), served(3, 6)], 1, now)
    assert.strictEqual(uptime.d30, 30)
    assert.deepInclude(figures, { visitors: 10, longest_outage_secs: 9 * 3600 })
    assert.strictEqual(figures?.days[0]?.uptime_pct, 30)
  })

  it("have no sums where one is an edge of before, and no visitors where one did not count them", () => {
    const { figures: _figures, ...before } = Schema.encodeSync(TunnelHistory)(served(0, 4))
    assert.isUndefined(AddedUp.history([decode(before), served(3, 6)], 200, now).figures)
    const sums = (visitors: number | null) =>
      new TokenSums({
        token,
        visitors: visitors === null ? null : Count.make(visitors),
        bytes_in: Count.make(1),
        bytes_out: Count.make(2)
      })
    assert.deepInclude(AddedUp.sums([sums(3), sums(4)])[0], { visitors: 7, bytes_in: 2, bytes_out: 4 })
    assert.deepInclude(AddedUp.sums([sums(3), sums(null)])[0], { visitors: null, bytes_in: 2 })
  })

  it("take the best of what the echo finds, and of an edge of before whether an agent is connected", () => {
    const report = (connected: boolean, reach?: Reachability["state"]) =>
      new TunnelStatusReport({
        connected,
        registrations: Count.make(1),
        fallback_parked: Count.make(0),
        bytes_received: Count.make(0),
        bytes_sent: Count.make(0),
        direct: false,
        connected_since: connected ? UnixSeconds.make(7) : null,
        last_seen: UnixSeconds.make(9),
        ...(reach === undefined
          ? {}
          : { reach: new Reachability({ state: reach, since: null, origin: null, fault: null, http_status: null }) })
      })
    const found = (...reports: ReadonlyArray<TunnelStatusReport>): ReadonlyArray<unknown> => {
      const { reach } = AddedUp.status(reports)
      return [reach?.state, reach?.since]
    }
    assert.deepStrictEqual(found(report(true, "origin_silent"), report(true, "up")), ["up", null])
    assert.deepStrictEqual(found(report(false), report(true, "origin_silent")), ["origin_silent", null])
    assert.deepStrictEqual(found(report(false), report(true)), ["connected", 7])
    assert.deepStrictEqual(found(report(false)), ["agent_silent", 9])
  })
})
