/**
 * Exports the signed receipts of a tunnel: a header line, then one receipt per line. This service passes them on, and
 * the reader verifies them. It fails closed: no file rather than half of one.
 */
import * as AdminHeader from "@catenet/crypto/AdminHeader"
import * as Json from "@catenet/crypto/Json"
import * as Export from "@catenet/crypto/receipt/Export"
import * as Receipt from "@catenet/crypto/receipt/Receipt"
import type { Caller } from "@catenet/domain/api/Access"
import { ReceiptsUnavailable, type TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import type { RoutingToken } from "@catenet/domain/values/Tokens"
import { Array as Arr, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import type { EdgeAddress } from "../../edges/EdgeAddressStore.ts"
import { LiveEdges } from "../../edges/LiveEdges.ts"
import * as OutgoingHttp from "../../http/OutgoingHttp.ts"
import { Settings } from "../../settings/Settings.ts"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { Tunnels } from "../Tunnels.ts"

// Fetches receipts from the edges. They are read by the parser of signed records and not by the typed client, which
// would drop what it does not know: a receipt that lost a member no longer verifies.

/** Receipts of one export. */
const pageSize = 1000

const unavailable = (reason: string) => new ReceiptsUnavailable({ reason })

/** The page as the edge writes it; each receipt is read as what it is signed as. */
const decode = Schema.decodeUnknownResult(
  Schema.Struct({ pubkey: Schema.String, edge_id: Schema.String, receipts: Schema.Array(Schema.Unknown) })
)

/** So many are read or written in one turn: a page of a thousand at once would keep other requests waiting for 40 ms. */
const turn = 100

const inTurns = <A, B, E>(all: ReadonlyArray<A>, use: (some: ReadonlyArray<A>) => Result.Result<ReadonlyArray<B>, E>) =>
  Effect.forEach(Arr.chunksOf(all, turn), (some) => Effect.andThen(Effect.yieldNow, Effect.fromResult(use(some)))).pipe(
    Effect.map((parts) => parts.flat())
  )

const read = Effect.fnUntraced(
  function* (text: string) {
    const page = yield* Effect.fromResult(Result.flatMap(Json.parse(text), decode))
    const { edge_id: edgeId, pubkey } = page
    const receipts = yield* inTurns(page.receipts, (some) => Result.all(some.map(Receipt.json.fromJson)))
    return { header: { pubkey, edgeId }, receipts } satisfies Export.Export
  },
  Effect.mapError(() => unavailable("the edge's answer cannot be read"))
)

const written = Effect.fnUntraced(function* ({ header, receipts }: Export.Export) {
  const lines = yield* inTurns(receipts, (some) => Result.succeed(some.map((each) => `${Receipt.json.write(each)}\n`)))
  return `${Export.write({ header, receipts: [] })}${lines.join("")}`
})

export class EdgeReceipts extends Context.Service<
  EdgeReceipts,
  {
    /**
     * Receipts of a tunnel after `since`, ascending, at most a page for each edge that has some: an edge signs a chain of
     * its own. A failure of one of them is said in one sentence, which names the edge where there are several.
     */
    readonly pages: (
      token: RoutingToken,
      since: number
    ) => Effect.Effect<ReadonlyArray<Export.Export>, ReceiptsUnavailable>
  }
>()("server/tunnels/records/Receipts/EdgeReceipts") {
  static readonly make = Effect.gen(function* () {
    const { adminToken } = yield* Settings
    const edges = yield* LiveEdges
    const client = yield* HttpClient.HttpClient

    const ask = Effect.fnUntraced(function* (
      { url }: EdgeAddress,
      admin: Redacted.Redacted<Uint8Array>,
      token: RoutingToken,
      since: number
    ) {
      const request = HttpClientRequest.get(new URL("internal/tunnel/receipts", url), {
        urlParams: { limit: pageSize, since }
      }).pipe(
        HttpClientRequest.setHeaders({
          [AdminHeader.name]: Redacted.value(AdminHeader.value(admin)),
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
      if (status === 404) return Option.none<Export.Export>()
      if (status !== 200) return yield* unavailable(`the edge answered ${status}`)
      return Option.some(yield* read(text))
    })

    return {
      pages: Effect.fn("Receipts.pages")(function* (token: RoutingToken, since: number) {
        const all = yield* edges.all
        if (adminToken === undefined || all.length === 0) return yield* unavailable("no edge is configured")
        const named = ({ id }: EdgeAddress) =>
          Effect.mapError((problem: ReceiptsUnavailable) =>
            all.length === 1 ? problem : unavailable(`${problem.reason} (${id})`)
          )
        const found = yield* Effect.forEach(all, (edge) => named(edge)(ask(edge, adminToken, token, since)), {
          concurrency: "unbounded"
        })
        const pages = found.flatMap(Option.toArray)
        const [first] = pages
        if (first === undefined) return yield* unavailable("the edge keeps no receipts")
        const filled = pages.filter(({ receipts }) => receipts.length > 0)
        return filled.length === 0 ? [first] : filled
      })
    }
  })

  /** On the caller's view of which edges live. */
  static readonly layerNoDeps = Layer.effect(EdgeReceipts, EdgeReceipts.make).pipe(
    Layer.provide(OutgoingHttp.layerToEdges)
  )
  static readonly layer = EdgeReceipts.layerNoDeps.pipe(Layer.provide(LiveEdges.layer))
}

type Account = Caller["Service"]

export class Receipts extends Context.Service<
  Receipts,
  {
    /**
     * The export after receipt `since`, one page of each edge; the last `seq` of it is the next `since`. Where several
     * edges have receipts, each begins with a header line of its own.
     */
    readonly export: (
      account: Account,
      id: string,
      since: number
    ) => Effect.Effect<string, ReceiptsUnavailable | TunnelNotFound>
  }
>()("server/tunnels/records/Receipts") {
  static readonly make = Effect.gen(function* () {
    const tunnels = yield* Tunnels
    const edge = yield* EdgeReceipts
    return {
      export: Effect.fn("Receipts.export")(function* (account: Account, id: string, since: number) {
        const { name, routingToken } = yield* tunnels.owned(id, account)
        const pages = yield* edge.pages(routingToken, since)
        const texts = yield* Effect.forEach(pages, ({ header, receipts }) =>
          written({ header: { ...header, tunnel: name }, receipts })
        )
        return texts.join("")
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(Receipts, Receipts.make).pipe(Layer.provide([EdgeReceipts.layer, Tunnels.layer]))
}
