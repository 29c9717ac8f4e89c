import * as Contract from "@catenet/testing/server/Contract"
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
      const notTheirs = (call: string): ReadonlyArray<Contract.Row> => [
        { call, at, as: { bearer: "bob" }, status: 404, code: "TunnelNotFound" },
        { call, at: { id: unknownId }, as: ada, status: 404, code: "TunnelNotFound" },
        { call, at: { id: "nonsense" }, as: ada, status: 404, code: "TunnelNotFound" }
      ]
      yield* Contract.hold("tunnelRecords", ada, [
        { call: "uptime", at, as: ada, status: 200 },
        ...notTheirs("uptime"),
        { call: "receipts", at, as: ada, status: 200 },
        { call: "receipts", at, as: ada, query: "?since=12", status: 200 },
        { call: "receipts", at, as: ada, query: "?since=-1", status: 400, code: "MalformedRequest" },
        { call: "receipts", at: { id: without }, as: ada, status: 502, code: "ReceiptsUnavailable" },
        ...notTheirs("receipts"),
        { call: "usage", as: ada, status: 200 },
        { call: "usage", as: { bearer: "bob" }, status: 200, answer: [] },
        { call: "usageCsv", as: ada, status: 200 },
        { call: "fleet", as: ada, query: "?limit=1", status: 200 },
        { call: "fleet", as: { bearer: "bob" }, status: 200, answer: [] }
      ])
      yield* Contract.hold("portalDownloads", session, [
        { call: "receipts", at, as: session, status: 200 },
        { call: "receipts", at, as: session, query: "?since=x", status: 400, code: "MalformedRequest" },
        { call: "receipts", at: { id: without }, as: session, status: 502, code: "ReceiptsUnavailable" },
        { call: "receipts", at: { id: unknownId }, as: session, status: 404, code: "TunnelNotFound" },
        { call: "usageCsv", as: session, status: 200 }
      ])
    })
  )

  it.effect("have a badge as declared", () =>
    Effect.gen(function* () {
      const { id } = yield* tunnel("ada", "badge")
      const { tunnelControls } = yield* account("ada")
      const { public_id: badge } = yield* tunnelControls.enableBadge({ params: { id } })
      const missing = (file: string): Contract.Row => ({
        call: "svg",
        at: { file },
        status: 404,
        code: "BadgeNotFound"
      })
      yield* Contract.hold("badges", "anonymous", [
        { call: "svg", at: { file: `${badge}.svg` }, status: 200 },
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
