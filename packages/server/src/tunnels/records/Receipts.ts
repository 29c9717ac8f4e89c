/**
 * Exports what the edge signed about a tunnel: a header line, then one receipt a line. This service only passes them on;
 * whether they hold is for whoever verifies the file. It fails closed: no file rather than half of one.
 */
import * as Export from "@catenet/crypto/receipt/Export"
import type { Caller } from "@catenet/domain/api/Access"
import { Context, Effect, Layer } from "effect"
import { asDefects } from "../../store/Defects.ts"
import { Tunnels } from "../Tunnels.ts"
import { EdgeReceipts } from "./EdgeReceipts.ts"

type Account = Caller["Service"]

const make = Effect.gen(function* () {
  const tunnels = yield* Tunnels
  const edge = yield* EdgeReceipts
  return {
    /**
     * The export after receipt `since`, one page of each edge; the last `seq` of it is the next `since`. Where several
     * edges have receipts, each begins with a header line of its own.
     */
    export: Effect.fn("Receipts.export")(function* (account: Account, id: string, since: number) {
      const { name, routingToken } = yield* tunnels.owned(id, account)
      const pages = yield* edge.pages(routingToken, since)
      return pages
        .map(({ header, receipts }) => Export.write({ header: { ...header, tunnel: name }, receipts }))
        .join("")
    }, asDefects)
  }
})

export class Receipts extends Context.Service<Receipts, Effect.Success<typeof make>>()("server/Receipts") {
  static readonly layer = Layer.effect(Receipts, make).pipe(Layer.provide(EdgeReceipts.layer))
}
