/** The edge's database as a service; absent when the operator has switched history off. */
import { Context, Effect, Layer, Path } from "effect"
import { Settings } from "../Settings.ts"
import * as Database from "./Database.ts"

export class Store extends Context.Service<Store, { readonly db: Database.Database | undefined }>()(
  "edge/history/Store"
) {
  static readonly layer = Layer.effect(
    Store,
    Effect.gen(function* () {
      const { certOut, history, historyPath } = yield* Settings
      if (!history) return { db: undefined }
      const path = yield* Path.Path
      return { db: yield* Database.open(historyPath ?? path.join(path.dirname(certOut), "tunnel-history.sqlite")) }
    })
  )
}
