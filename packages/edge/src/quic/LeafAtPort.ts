/** A UDP port goes on with the leaf in force: those that connect after a renewal get the new one, and no connection ends. */
import type { Bound } from "@catenet/quic/process/QuicProcess"
import { Effect, FiberSet } from "effect"
import type { Pair, PairSource } from "../tls/PairSource.ts"

/** `first` is what the port was bound with. */
export const follow = Effect.fn("LeafAtPort.follow")(function* (leaf: PairSource, bound: Bound, first: Pair) {
  const run = yield* FiberSet.makeRuntime<never>()
  const renew = ({ cert: certificate, key }: Pair) =>
    run(
      bound
        .renew({ certificate, key })
        .pipe(Effect.catch(({ why }) => Effect.logError("a UDP port keeps its certificate", why)))
    )
  leaf.onReplaced(renew)
  if (leaf.current !== first) renew(leaf.current)
})
