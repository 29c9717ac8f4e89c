/**
 * Exports what the edge signed about a tunnel: a header line, then one receipt a line. This service only passes them on;
 * the reader of the file verifies them. It fails closed: no file rather than half of one.
 */
import * as Export from "@catenet/crypto/receipt/Export"
import type { Caller } from "@catenet/domain/api/Access"
import type { ReceiptsUnavailable, TunnelNotFound } from "@catenet/domain/tunnels/TunnelErrors"
import { Context, Effect, Layer } from "effect"
import { sqlOrDie } from "../../store/SqlOrDie.ts"
import { Tunnels } from "../Tunnels.ts"
import { EdgeReceipts } from "./EdgeReceipts.ts"

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
        return pages
          .map(({ header, receipts }) => Export.write({ header: { ...header, tunnel: name }, receipts }))
          .join("")
      }, sqlOrDie)
    }
  })

  static readonly layerNoDeps = Layer.effect(Receipts, Receipts.make)
  static readonly layer = Receipts.layerNoDeps.pipe(Layer.provide([EdgeReceipts.layer, Tunnels.layer]))
}
