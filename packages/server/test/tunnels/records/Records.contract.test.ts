import { hold, row, type Row } from "@catenet/testing/server/Contract"
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { FactsEdge } from "./FactsEdge.ts"
import { account, server, tunnel } from "./FactsServer.ts"

const ada = { bearer: "ada" }
const session = { session: "ada", email: "ada@example.test" }
const unknownId = "0123456789abcdef".repeat(2)
const empty = JSON.stringify({ pubkey: "ab".repeat(32), edge_id: "primary", receipts: [] })

layer(server(), { excludeTestServices: true, timeout: "60 seconds" })("tunnel records", (it) => {
  it.effect("answer as declared", () =>
    Effect.gen(function* () {
      const edge = yield* FactsEdge
      const { id, token } = yield* tunnel("ada", "cam")
      const { id: without } = yield* tunnel("ada", "without")
      yield* edge.tunnel(token, { receipts: empty })
      const at = { id }
      const notTheirs = (call: string): ReadonlyArray<Row> => [
        row(call, "404 TunnelNotFound", { at, as: { bearer: "bob" } }),
        row(call, "404 TunnelNotFound", { at: { id: unknownId }, as: ada }),
        row(call, "404 TunnelNotFound", { at: { id: "nonsense" }, as: ada })
      ]
      yield* hold("tunnelRecords", ada, [
        row("uptime", 200, { at, as: ada }),
        ...notTheirs("uptime"),
        row("receipts", 200, { at, as: ada }),
        row("receipts", 200, { at, as: ada, query: "?since=12" }),
        row("receipts", "400 MalformedRequest", { at, as: ada, query: "?since=-1" }),
        row("receipts", "502 ReceiptsUnavailable", { at: { id: without }, as: ada }),
        ...notTheirs("receipts"),
        row("usage", 200, { as: ada }),
        row("usage", 200, { as: { bearer: "bob" }, answer: [] }),
        row("usageCsv", 200, { as: ada }),
        row("fleet", 200, { as: ada, query: "?limit=1" }),
        row("fleet", 200, { as: { bearer: "bob" }, answer: [] })
      ])
      yield* hold("portalDownloads", session, [
        row("receipts", 200, { at, as: session }),
        row("receipts", "400 MalformedRequest", { at, as: session, query: "?since=x" }),
        row("receipts", "502 ReceiptsUnavailable", { at: { id: without }, as: session }),
        row("receipts", "404 TunnelNotFound", { at: { id: unknownId }, as: session }),
        row("usageCsv", 200, { as: session })
      ])
    })
  )

  it.effect("have a badge as declared", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("ada", "badge")
      const { tunnelControls } = yield* account("ada")
      const { public_id: badge } = yield* tunnelControls.enableBadge({ params: { id } })
      const missing = (file: string): Row => row("svg", "404 BadgeNotFound", { at: { file } })
      yield* hold("badges", "anonymous", [
        row("svg", 200, { at: { file: `${badge}.svg` } }),
        missing(`${badge}`),
        missing(`${badge}.png`),
        missing(`${badge}.svgx`),
        missing(`x${badge}.svg`),
        missing(`${badge?.toUpperCase()}.svg`),
        missing(`${"ab".repeat(32)}.svg`),
        missing(`${id}.svg`)
      ])
    })
  )
})
