/** Numbers on pages: as the reader's language writes them, from one file. */
import { TunnelDay } from "@catenet/domain/tunnels/TunnelTraffic"
import { FleetRow, UsageRow } from "@catenet/domain/tunnels/Usage"
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as FleetPage from "../../src/portal/pages/FleetPage.ts"
import * as UsagePage from "../../src/portal/pages/UsagePage.ts"
import { english } from "../../src/portal/texts/English.ts"
import { german } from "../../src/portal/texts/German.ts"
import { misread } from "./PageFaults.ts"

const id = "ab".repeat(16)
const day = Schema.decodeSync(TunnelDay)({
  start: 1_799_971_200,
  uptime_pct: 99.44,
  visitors: 17_284,
  bytes_in: 212_021_248,
  bytes_out: 1536
})
const usage = Schema.decodeSync(UsageRow)({
  id,
  tunnel: "cam",
  hostname: null,
  uptime_30d_pct: 99.44,
  sessions_30d: 1234,
  visitors_30d: 17_284,
  bytes_in_30d: 212_021_248,
  bytes_out_30d: 1536,
  silent_edges: []
})
const fleet = Schema.decodeSync(FleetRow)({
  id,
  tunnel: "cam",
  hostname: null,
  online: true,
  reach: { state: "up", since: 1_799_971_200, origin: null, fault: null, http_status: null },
  transport: "tcp-fallback",
  carrier: "mux",
  uptime_7d_pct: 98.44,
  bridge_mode: "off",
  bridge_granted: true,
  bridge_last_seen_secs_ago: 123_456,
  agent_version: null,
  gaps: [],
  probed_at: null,
  silent_edges: []
})

describe("numbers of a page", () => {
  it("are written as its language does, in tables, pictures and sentences", () => {
    for (const [texts, written] of [
      [english, ["99.4 %", "202.2 MiB", "1.5 KiB", "17,284", "1,234", "98.4 %", "123,456"]],
      [german, ["99,4 %", "202,2 MiB", "1,5 KiB", "17.284", "1.234", "98,4 %", "123.456"]]
    ] as const) {
      const pages = [
        UsagePage.page(texts, { rows: [usage], days: [day] }),
        FleetPage.page(texts, { rows: [fleet], days: [day] }, 1_800_000_000)
      ].map(({ main }) => main.text)
      for (const text of written) assert.include(pages.join(), text, texts.language)
      for (const page of pages) assert.deepStrictEqual(misread(page, texts), [])
    }
  })

  it("are found where they are written as another language does", () => {
    assert.deepStrictEqual(misread("<p>99,4 %</p><p>202.2 MiB</p>", german), ["202.2 MiB"])
    assert.deepStrictEqual(misread("<p>99,4 %</p><p>202.2 MiB</p>", english), ["99,4 %"])
  })

  it("come from one file", () => {
    const portal = join(import.meta.dirname, "../../src/portal")
    const own = globSync("**/*.ts", { cwd: portal }).filter((file) => file !== "texts/Numerals.ts")
    const writing = /\b(?:bytesText|percentText|toFixed|NumberFormat)\b/u
    assert.deepStrictEqual(
      own.filter((file) => writing.test(readFileSync(join(portal, file), "utf8"))),
      []
    )
  })
})
