/**
 * Fetches receipts from the edge. They are read by the parser of signed records and not by the typed client, which
 * would drop what it does not know: a receipt that lost a member no longer verifies.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Json from "@catenet/crypto/Json"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import type * as Export from "@catenet/crypto/receipt/Export"
import { ReceiptsUnavailable } from "@catenet/domain/errors/Tunnels"
import type { RoutingToken } from "@catenet/domain/Tokens"
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { Settings } from "../Settings.ts"

/** Receipts of one export. */
export const pageSize = 1000

const unavailable = (reason: string) => new ReceiptsUnavailable({ reason })

/** The page as the edge writes it; each receipt is read as what it is signed as. */
const decode = Schema.decodeUnknownResult(
  Schema.Struct({ pubkey: Schema.String, edge_id: Schema.String, receipts: Schema.Array(Schema.Unknown) })
)

const read = (text: string): Result.Result<Export.Export, ReceiptsUnavailable> =>
  Json.parse(text).pipe(
    Result.flatMap(decode),
    Result.flatMap(({ edge_id: edgeId, pubkey, receipts }) =>
      Result.map(Result.all(receipts.map(Receipt.json.fromJson)), (all) => ({
        header: { pubkey, edgeId },
        receipts: all
      }))
    ),
    Result.mapError(() => unavailable("the edge's answer cannot be read"))
  )

const make = Effect.gen(function* () {
  const { adminToken, edgeAdminUrl } = yield* Settings
  const client = yield* HttpClient.HttpClient

  return {
    /** Receipts of a tunnel after `since`, ascending, at most a page. Whatever goes wrong is said in one sentence. */
    page: Effect.fn("EdgeReceipts.page")(function* (token: RoutingToken, since: number) {
      if (adminToken === undefined || edgeAdminUrl === undefined) return yield* unavailable("no edge is configured")
      const url = new URL("internal/tunnel/receipts", edgeAdminUrl)
      const request = HttpClientRequest.get(url, { urlParams: { limit: pageSize, since } }).pipe(
        HttpClientRequest.setHeaders({
          [AdminHeader.name]: Redacted.value(AdminHeader.value(adminToken)),
          "x-ct-routing-token": Redacted.value(token)
        })
      )
      const { status, text } = yield* Effect.gen(function* () {
        const response = yield* client.execute(request)
        return { status: response.status, text: yield* response.text }
      }).pipe(
        Effect.timeout("2 seconds"),
        Effect.mapError(() => unavailable("the edge cannot be reached"))
      )
      if (status === 404) return yield* unavailable("the edge keeps no receipts")
      if (status !== 200) return yield* unavailable(`the edge answered ${status}`)
      return yield* Effect.fromResult(read(text))
    })
  }
})

export class EdgeReceipts extends Context.Service<EdgeReceipts, Effect.Success<typeof make>>()("server/EdgeReceipts") {
  static readonly layer = Layer.effect(EdgeReceipts, make).pipe(Layer.provide(OutgoingHttp.layerToEdges))
}
