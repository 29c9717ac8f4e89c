import type { TunnelFigures } from "@catenet/domain/tunnels/TunnelTraffic"
import { bearerOf } from "@catenet/testing/server/Accounts"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { english } from "../../src/portal/texts/English.ts"
import { FactsEdge } from "../tunnels/records/FactsEdge.ts"
import { account, server, tunnel } from "../tunnels/records/FactsServer.ts"

const day = 86_400

const visit = (sub: string, path: string) =>
  Effect.gen(function* () {
    const headers = yield* headersOf({ session: sub, email: `${sub}@people.example` })
    return yield* Effect.flatMap(TestServer.raw(path, { headers }), (response) => Effect.promise(() => response.text()))
  })

/** Two hundred sessions, which is all that an edge tells one by one, of a tunnel that had a thousand. */
const flapping = Effect.map(Clock.currentTimeMillis, (millis) => {
  const now = Math.floor(millis / 1_000)
  const today = now - (now % day)
  const sessions = Array.from({ length: 200 }, (_, n) => ({
    connected_at: now - 10 * n - 5,
    disconnected_at: now - 10 * n,
    bytes_in: 1,
    bytes_out: 2
  }))
  const figures: typeof TunnelFigures.Encoded = {
    sessions: 1000,
    visitors: 4321,
    bytes_in: 3 * 1024,
    bytes_out: 5 * 1024,
    longest_outage_secs: 7200,
    days: Array.from({ length: 30 }, (_, n) => ({
      start: today - (29 - n) * day,
      uptime_pct: n < 20 ? null : 50 + n,
      visitors: n < 25 ? null : n,
      bytes_in: n < 25 ? null : 1024 * n,
      bytes_out: n < 25 ? null : 2048 * n
    }))
  }
  return { connected: true, sessions, uptime: { h24: 50, d7: 50, d30: 50 }, figures }
})

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("visitors and bytes by day", (it) => {
  it.effect("are sums of all sessions of thirty days, in the report, the usage and the list", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("day", "cam")
      yield* edge.tunnel(token, yield* flapping)
      const { tunnelRecords } = yield* account("day")
      const report = yield* tunnelRecords.uptime({ params: { id } })
      const sums = { sessions_30d: 1000, bytes_in_30d: 3072, bytes_out_30d: 5120, visitors_30d: 4321 }
      assert.deepInclude(report, { ...sums, longest_outage_30d_secs: 7200 })
      assert.strictEqual(report.days.length, 30)
      assert.strictEqual(report.sessions.length, 200)
      assert.deepInclude((yield* tunnelRecords.usage({ query: {} }))[0], sums)
      const list = yield* visit("day", "/portal/tunnels")
      assert.include(list, `<td class="figure" data-label="${english.visitorsOf30}">4,321</td>`)
      assert.include(list, `<td class="figure" data-label="${english.carriedOf30}">8.0 KiB</td>`)
      const usage = yield* visit("day", "/portal/usage")
      assert.strictEqual(usage.split(`<td class="figure" data-label="${english.visitors}">4,321</td>`).length, 3)
    })
  )

  it.effect("stand on the tunnel's page as three pictures with a table each", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("pic", "cam")
      yield* edge.tunnel(token, yield* flapping)
      const page = yield* visit("pic", `/portal/tunnels/${id}/uptime`)
      const pictures = [
        ...page.matchAll(
          /<svg class="(?:strip wide|plot bars)"[^>]*role="img" aria-label="([^":]+)[^"]*">(.*?)<\/svg>/gsu
        )
      ]
      assert.deepStrictEqual(
        pictures.map(([, label]) => label),
        [english.barsLabel, english.visitorsLabel, english.bytesLabel]
      )
      const [uptime = "", visitors = "", bytes = ""] = pictures.map(([, , inside]) => inside)
      assert.deepStrictEqual(
        [uptime, visitors, bytes].map((inside) => inside.split("<rect").length - 1),
        [30, 5, 10]
      )
      assert.include(visitors, `height="131"><title>`, "29 of 40, which is the top of the axis")
      assert.strictEqual(page.split('<details class="asTable"><summary>As a table').length, 4)
      assert.include(page, `<td data-label="${english.visitorsByDay}">29</td>`)
      assert.include(
        page,
        `<td data-label="${english.bytesIn}">29.0 KiB</td><td data-label="${english.bytesOut}">58.0 KiB</td>`
      )
      assert.include(page, `<td data-label="${english.visitorsByDay}">n/a</td>`)
    })
  )

  it.effect("are not known of an edge of before or a silent one, and no number stands for that", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("old-days", "cam")
      const { figures: _figures, ...before } = yield* flapping
      yield* edge.tunnel(token, before)
      const page = yield* visit("old-days", `/portal/tunnels/${id}/uptime`)
      assert.strictEqual(page.split(english.daysNotCounted).length, 3)
      assert.strictEqual(page.split(`<svg class="strip wide"`).length, 2)
      assert.include(page, `<dt>${english.visitors30}</dt><dd>n/a</dd>`)
      yield* edge.away(true)
      assert.include(
        yield* visit("old-days", `/portal/tunnels/${id}/uptime`),
        "The edge does not respond, so the uptime"
      )
      assert.include(
        yield* visit("old-days", "/portal/tunnels"),
        `<td class="figure" data-label="${english.visitorsOf30}">n/a</td>`
      )
      yield* edge.away(false)
    })
  )

  it.effect("of all tunnels together are pictures with tables of the fleet and of the usage", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const [one, two] = [yield* tunnel("both", "cam"), yield* tunnel("both", "shop")]
      const first = yield* flapping
      yield* edge.tunnel(one.token, first)
      const known = { uptime_pct: 99, visitors: 1, bytes_in: 1024, bytes_out: 0 }
      const days = first.figures.days.map((day, n) => (n < 29 ? day : { ...day, ...known }))
      yield* edge.tunnel(two.token, { ...first, figures: { ...first.figures, days } })
      const labelsOf = (page: string) =>
        [...page.matchAll(/<svg class="(?:strip wide|plot bars)"[^>]*role="img" aria-label="([^":]+)[^"]*">/gu)].map(
          ([, label]) => label
        )
      const fleet = yield* visit("both", "/portal/fleet")
      assert.deepStrictEqual(labelsOf(fleet), [english.fleetBarsLabel, english.visitorsLabel, english.bytesLabel])
      const usage = yield* visit("both", "/portal/usage")
      assert.deepStrictEqual(labelsOf(usage), [english.visitorsLabel, english.bytesLabel])
      // The last day of one is 79 % with 29 visitors, that of the other 99 % with one.
      assert.include(fleet, `<td data-label="${english.uptimeTitle}">89 %</td>`)
      for (const page of [fleet, usage]) {
        assert.include(page, `<td data-label="${english.visitorsByDay}">30</td>`)
        assert.include(page, `<td data-label="${english.visitorsByDay}">56</td>`)
        assert.include(page, `<td data-label="${english.bytesIn}">30.0 KiB</td>`)
        assert.include(page, `<td data-label="${english.visitorsByDay}">n/a</td>`)
      }
      yield* edge.away(true)
      for (const path of ["/portal/fleet", "/portal/usage"]) {
        const silent = yield* visit("both", path)
        assert.deepStrictEqual(labelsOf(silent), [], path)
        assert.include(silent, english.daysNotCounted)
      }
      yield* edge.away(false)
    })
  )

  it.effect("leave the file as it was", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { token } = yield* tunnel("csv", "cam", "csv.zone.example")
      yield* edge.tunnel(token, yield* flapping)
      const headers = { authorization: `Bearer ${yield* bearerOf("csv")}` }
      const response = yield* TestServer.raw("/me/usage.csv", { headers })
      const text = yield* Effect.promise(() => response.text())
      assert.deepStrictEqual(text.split("\r\n"), [
        "tunnel,hostname,uptime_30d_pct,sessions_30d,bytes_in_30d,bytes_out_30d",
        `"cam","csv.zone.example",50.0,1000,3072,5120`,
        ""
      ])
    })
  )
})
