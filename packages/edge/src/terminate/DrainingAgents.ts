/**
 * Connections that visitors keep alive lead to one agent each. When that agent says that it takes no more streams, they end in
 * order: the next answer says so, and those on which nothing is asked end after a moment. Otherwise an agent that stops would wait
 * for their streams until its time is over, with visitors of a tunnel of one agent refused meanwhile, and would cut them then,
 * some in the middle of a request.
 */
import type { KeptAlive } from "@catenet/proxy/internal/http2/UpstreamPool"
import type { CarrierSession } from "@catenet/wire/transport/Carrier"
import { Effect, FiberSet } from "effect"
import type { Duplex } from "node:stream"
import type { Delivered } from "../sessions/StreamDelivery.ts"

/** In which a visitor asks again whose next request is on its way. */
const grace = "500 millis"

/** Follows the agents of kept connections, each until `visitor` closes. */
export const make = Effect.gen(function* () {
  const run = yield* FiberSet.makeRuntime<never>()
  const bySession = new WeakMap<CarrierSession, Set<KeptAlive>>()

  const end = Effect.fnUntraced(function* (all: ReadonlySet<KeptAlive>) {
    for (const one of Array.from(all)) one.announce()
    yield* Effect.sleep(grace)
    for (const one of Array.from(all)) one.endIdle()
  })

  const keptOf = (session: CarrierSession) => {
    const known = bySession.get(session)
    if (known !== undefined) return known
    const all = new Set<KeptAlive>()
    bySession.set(session, all)
    void session.draining.then(() => run(end(all)))
    return all
  }

  return ({ agent }: Delivered, kept: KeptAlive, visitor: Duplex) => {
    // A sibling's session is that of all its agents, and a parked slot serves one visitor.
    if (!("session" in agent) || agent.sibling !== undefined) return
    const all = keptOf(agent.session).add(kept)
    visitor.once("close", () => all.delete(kept))
  }
})
