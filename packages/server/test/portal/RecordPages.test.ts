/** What the pages of records say: of a silent edge no figure, of its receipts the key, and the same in both languages. */
import type { AccessState } from "@catenet/domain/api/TunnelControlsApi"
import { AccessPolicy } from "@catenet/domain/edges/AccessPolicy"
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { sessionEnds } from "@catenet/domain/tunnels/TunnelTraffic"
import type { Badge } from "@catenet/domain/tunnels/Uptime"
import { FleetRow, UptimeReport } from "@catenet/domain/tunnels/Usage"
import { headersOf } from "@catenet/testing/server/Contract"
import * as TestServer from "@catenet/testing/server/TestServer"
import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as FleetPage from "../../src/portal/pages/FleetPage.ts"
import * as AccessPanel from "../../src/portal/pages/tunnel/AccessPanel.ts"
import type { Controls } from "../../src/portal/pages/tunnel/Controls.ts"
import * as UptimePage from "../../src/portal/pages/UptimePage.ts"
import { english, type Texts } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { FactsEdge } from "../tunnels/records/FactsEdge.ts"
import { account, server, tunnel } from "../tunnels/records/FactsServer.ts"

const languages = [english, german] as const
const id = "ab".repeat(16)
const origin = "https://portal.example"
const now = 1_800_000_000

const row = (more: Partial<typeof FleetRow.Encoded>) =>
  Schema.decodeSync(FleetRow)({
    id,
    tunnel: "cam",
    hostname: null,
    online: true,
    reach: { state: "up", since: now, origin: null, fault: null, http_status: null },
    transport: "quic",
    uptime_7d_pct: 98.44,
    bridge_mode: "off",
    bridge_granted: false,
    bridge_last_seen_secs_ago: null,
    agent_version: null,
    gaps: [],
    probed_at: null,
    silent_edges: [],
    ...more
  })

describe("a row of the fleet", () => {
  const granted = { bridge_mode: "permanent", bridge_granted: true } as const
  plain("says each of its cells in the reader's language", () => {
    for (const texts of languages)
      for (const [more, says] of [
        [{}, texts.noGrant],
        [{ ...granted, bridge_last_seen_secs_ago: 7 }, texts.serving("7")],
        [granted, texts.notConnected],
        [{ ...granted, online: null }, texts.presenceUnknown],
        [{}, texts.unknown],
        [{ agent_version: "1.2.3" }, "1.2.3"],
        [{}, texts.notProbed],
        [{ probed_at: now }, texts.allOk],
        [{ probed_at: now, gaps: ["acme_configured"] }, "acme_configured"],
        [{ probed_at: now - 59 }, texts.justNow],
        [{ probed_at: now - 60 }, ">1 m<"],
        [{ probed_at: now - 7199 }, ">1 h<"],
        [{ probed_at: now - 200_000 }, ">2 d<"],
        [{}, texts.language === "de" ? "98,4 %" : "98.4 %"],
        [{ transport: null, uptime_7d_pct: null }, texts.noSessions]
      ] as const) {
        const page = FleetPage.page(texts, { rows: [row(more)], days: [] }, now).main.text
        assert.include(page, says, `${texts.language} ${JSON.stringify(more)}`)
      }
  })

  plain("says nothing of sessions that a silent edge knows", () => {
    for (const texts of languages) {
      const silent = row({ online: null, transport: null, uptime_7d_pct: null, silent_edges: ["primary"] })
      const page = FleetPage.page(texts, { rows: [silent], days: [] }, now).main.text
      assert.notInclude(page, texts.noSessions)
      assert.strictEqual(page.split(">n/a<").length, 3)
      assert.include(page, texts.silentEdges("primary"))
    }
  })

  plain("is counted in the line above, and names the versions where there are several", () => {
    const rows = [
      row({ agent_version: "1.2.3", ...granted, bridge_last_seen_secs_ago: 1, probed_at: now }),
      row({ agent_version: "1.2.4", online: false, gaps: ["a_available"], probed_at: now })
    ]
    for (const texts of languages) {
      const page = FleetPage.page(texts, { rows, days: [] }, now).main.text
      assert.include(page, texts.fleetLine({ tunnels: 2, online: 1, bridges: 1, gaps: 1 }))
      assert.include(page, texts.drift("1.2.3, 1.2.4"))
      const [first] = rows
      assert(first !== undefined)
      assert.notInclude(FleetPage.page(texts, { rows: [first], days: [] }, now).main.text, texts.drift("1.2.3"))
    }
  })
})

describe("the end of a session", () => {
  const report = (reason: string | null) =>
    Schema.decodeSync(UptimeReport)({
      edge_silent: false,
      silent_edges: [],
      open: false,
      uptime: { h24: 1, d7: 2, d30: 3 },
      longest_outage_30d_secs: 4,
      sessions_30d: 1,
      bytes_in_30d: 0,
      bytes_out_30d: 0,
      visitors_30d: 0,
      days: [],
      sessions: [{ transport: "mux", connected_at: 1, disconnected_at: 2, reason, bytes_in: 0, bytes_out: 0 }]
    })
  const cell = (texts: Texts, reason: string | null) => {
    const facts = {
      tunnel: { id, name: "cam", hostname: null, port: null } as Tunnel,
      badge: { public_id: null } as Badge,
      address: undefined,
      reach: undefined,
      now,
      origin
    }
    const page = UptimePage.page(texts, { ...facts, report: report(reason) }).main.text
    return new RegExp(`data-label="${texts.sessionReason}">([^<]*)<`, "u").exec(page)?.[1]
  }

  plain("has a text of its own for each code, in both languages, and one for codes to come", () => {
    const said = languages.map((texts) => [...sessionEnds, "later-code"].map((code) => cell(texts, code)))
    for (const [index, code] of [...sessionEnds, "later-code"].entries()) {
      const [inEnglish, inGerman] = said.map((each) => each[index])
      assert.match(`${inEnglish}`, /^[a-z ,]{5,}$/u, code)
      assert.match(`${inGerman}`, /^[a-zäöüß ,]{5,}$/iu, code)
      assert.notStrictEqual(inEnglish, inGerman, code)
    }
    for (const each of said) assert.strictEqual(new Set(each).size, sessionEnds.length + 1)
    assert.strictEqual(cell(german, null), "–")
  })
})

describe("the line of a tunnel's hours", () => {
  plain("says each of the six states with its time", () => {
    // A Friday at 08:00 UTC.
    const friday = { day: 4, start_minute: 480, end_minute: 600 }
    const saturday = { day: 5, start_minute: 480, end_minute: 600 }
    const week = (slots: ReadonlyArray<typeof friday>) => ({ tz_offset_minutes: 0, slots })
    const expires = now + 7200
    for (const texts of languages)
      for (const [policy, line] of [
        [null, texts.windowLines.open],
        [{ expires_at: expires }, texts.windowExpires("2 h 0 m", "2027-01-15 10:00")],
        [{ schedule: week([friday]) }, texts.windowCloses("2 h 0 m")],
        [{ schedule: week([friday]), expires_at: now + 60 }, texts.windowExpires("1 m 0 s", "2027-01-15 08:01")],
        [{ schedule: week([saturday]) }, texts.windowOpens("1 d 0 h")],
        [{ expires_at: now }, texts.windowExpired("2027-01-15 08:00")],
        [{ schedule: week([]) }, texts.windowLines.closed]
      ] as const) {
        const decoded = policy === null ? null : Schema.decodeSync(AccessPolicy)(policy)
        const controls = { now, window: { policy: decoded } as AccessState } as Controls
        const { text } = AccessPanel.render(texts, { id } as unknown as Tunnel, controls, undefined)
        assert.include(text, `<p>${line}</p>`, `${texts.language} ${JSON.stringify(policy)}`)
      }
  })
})

const visit = (sub: string, path: string, language: string) =>
  Effect.gen(function* () {
    const own = yield* headersOf({ session: sub, email: `${sub}@people.example` })
    const response = yield* TestServer.raw(path, { headers: { ...own, "accept-language": language } })
    return yield* Effect.promise(() => response.text())
  })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("the page of a tunnel", (it) => {
  it.effect("gives the line that verifies its receipts by the edge's key, and says where there is none", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id } = yield* tunnel("signed", "cam")
      const path = `/portal/tunnels/${id}`
      const key = "cd".repeat(32)
      for (const texts of languages) {
        yield* edge.signs(undefined)
        assert.include(yield* visit("signed", `${path}?tab=settings`, texts.language), texts.receiptKeyNone)
        yield* edge.signs(key)
        const page = yield* visit("signed", `${path}?tab=settings`, texts.language)
        assert.include(page, `<dt>${texts.receiptKeyOf("primary")}</dt><dd class="mono">${key}</dd>`)
        assert.include(page, `catenet receipts verify receipts-${id}.jsonl --key ${key}</pre>`)
        assert.match(page, new RegExp(`method="get" action="${path}/receipts\\.jsonl"[^]*name="since"`, "u"))
        yield* edge.away(true)
        const silent = yield* visit("signed", `${path}?tab=settings`, texts.language)
        yield* edge.away(false)
        assert.include(silent, texts.receiptKeySilent("primary"))
        assert.notInclude(silent, key)
        assert.notInclude(silent, texts.receiptKeyNone)
      }
    })
  )

  it.effect("has a badge that is nothing under any other name than its own", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("badged", "cam")
      const { tunnelControls } = yield* account("badged")
      const { public_id } = yield* tunnelControls.enableBadge({ params: { id } })
      const name = String(public_id)
      const status = (file: string) => Effect.map(TestServer.raw(`/badge/${file}`), (response) => response.status)
      assert.strictEqual(yield* status(`${name}.svg`), 200)
      for (const other of [
        name,
        `${name}.svg.svg`,
        `${name}.SVG`,
        `${name}.svg%00`,
        `${name}.png`,
        `${name.slice(1)}.svg`,
        `0${name}.svg`,
        `${"0".repeat(64)}.svg`,
        `${name.toUpperCase()}.svg`,
        `%20${name}.svg`
      ])
        assert.strictEqual(yield* status(other), 404, other)
    })
  )
})
