/** Handlers of tunnel records, downloads, and badges: the same figures for programs and for pages. */
import { Caller } from "@catenet/domain/api/Access"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import type { TunnelId } from "@catenet/domain/values/Ids"
import { Effect, Layer } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Badges } from "../tunnels/records/Badges.ts"
import { Receipts } from "../tunnels/records/Receipts.ts"
import { Records } from "../tunnels/records/Records.ts"

/** Handlers of the `badges` group: the picture, which is public and may be kept for five minutes. */
const headers = {
  "cache-control": "public, max-age=300",
  // A badge is shown on other people's pages.
  "cross-origin-resource-policy": "cross-origin"
}

const cached = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setHeaders(response, headers))
)

export const BadgeHandlers = HttpApiBuilder.group(
  ControlPlaneApi,
  "badges",
  Effect.fn(function* (handlers) {
    const badges = yield* Badges
    return handlers.handleAll({ svg: ({ params }) => Effect.tap(badges.picture(params.file), () => cached) })
  })
)

/** A browser saves the answer under this name. */
const savedAs = (file: string) => () =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, "content-disposition", `attachment; filename="${file}"`))
  )

const files = Effect.gen(function* () {
  const records = yield* Records
  const receipts = yield* Receipts
  return {
    receipts: (id: TunnelId, since: number | undefined) =>
      Caller.use((caller) => receipts.export(caller, id, since ?? 0)).pipe(
        Effect.tap(savedAs(since === undefined ? `receipts-${id}.jsonl` : `receipts-${id}-since-${since}.jsonl`))
      ),
    usageCsv: Caller.use(records.usageCsv).pipe(Effect.tap(savedAs("tunnel-usage.csv")))
  }
})

const forPrograms = HttpApiBuilder.group(
  ControlPlaneApi,
  "tunnelRecords",
  Effect.fn(function* (handlers) {
    const records = yield* Records
    const { receipts, usageCsv } = yield* files
    return handlers.handleAll({
      uptime: ({ params }) => Caller.use((caller) => records.uptime(caller, params.id)),
      receipts: ({ params, query }) => receipts(params.id, query.since),
      usage: ({ query }) => Caller.use((caller) => records.usage(caller, query)),
      usageCsv: () => usageCsv,
      fleet: ({ query }) => Caller.use((caller) => records.fleet(caller, query))
    })
  })
)

const forPages = HttpApiBuilder.group(
  ControlPlaneApi,
  "portalDownloads",
  Effect.fn(function* (handlers) {
    const { receipts, usageCsv } = yield* files
    return handlers.handleAll({
      receipts: ({ params, query }) => receipts(params.id, query.since),
      usageCsv: () => usageCsv
    })
  })
)

export const RecordHandlers = Layer.merge(forPrograms, forPages)
