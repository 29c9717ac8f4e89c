/** Tunnels: created for an account, with a routing token that never changes and, mostly, a hostname. */
import { EdgeUnavailable, HostnameTaken } from "@catenet/domain/errors/Enrollment"
import { RouteNotFound } from "@catenet/domain/errors/Requests"
import type { Hostname } from "@catenet/domain/Hostname"
import { TunnelId } from "@catenet/domain/Ids"
import type { Subject } from "@catenet/domain/Subject"
import { RoutingToken } from "@catenet/domain/Tokens"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { EdgeAdmin } from "../edges/EdgeAdmin.ts"
import { unixSeconds } from "../Now.ts"
import { Outbox } from "../outbox/Outbox.ts"
import { Hosts } from "../registry/Hosts.ts"
import { freshHex32, freshHex64 } from "../Secrets.ts"
import { refusedBy } from "../store/Constraint.ts"
import * as Store from "./Store.ts"

const idFrom = Schema.decodeSync(TunnelId)
const tokenFrom = Schema.decodeSync(RoutingToken)

const make = Effect.gen(function* () {
  const store = yield* Store.make
  const hosts = yield* Hosts
  const outbox = yield* Outbox
  const edge = yield* EdgeAdmin
  const random = yield* SecureRandom.SecureRandom
  const withEntropy = Effect.provideService(SecureRandom.SecureRandom, random)

  const create = Effect.fnUntraced(function* (
    owner: { readonly subject: Subject; readonly name: string },
    hostname: Hostname
  ) {
    const id = idFrom(yield* withEntropy(freshHex32))
    const routingToken = tokenFrom(yield* withEntropy(freshHex64))
    yield* store.insert({ ...owner, id, hostname, routingToken, createdAt: yield* unixSeconds })
    const recorded = yield* hosts.find(hostname, { lock: true })
    if (recorded._tag === "Some") return yield* new HostnameTaken({ hostname })
    return yield* hosts.record(routingToken, hostname)
  }, store.transaction)

  return {
    /**
     * Creates a tunnel with its hostname. The edge is told at once when it can be reached, and later otherwise: the
     * tunnel exists either way.
     */
    provision: Effect.fn("Tunnels.provision")(
      function* (owner: { readonly subject: Subject; readonly name: string }, hostname: Hostname) {
        const receipt = yield* create(owner, hostname).pipe(
          refusedBy("tunnels_hostname_unique", () => new HostnameTaken({ hostname }))
        )
        yield* outbox.deliver(receipt).pipe(Effect.timeoutOption("2 seconds"), Effect.ignore)
        return { routing_token: receipt.queue, hostname }
      },
      Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die, NoSuchElementError: Effect.die })
    ),

    /** Binds a hostname to a routing token at the edge, and records it. What the edge did not take is repeated later. */
    authorizeHost: Effect.fn("Tunnels.authorizeHost")(
      function* (token: RoutingToken, hostname: Hostname) {
        if (!edge.configured) return yield* new RouteNotFound()
        const receipt = yield* store.transaction(hosts.record(token, hostname))
        yield* Effect.catchTag(outbox.deliver(receipt), ["EdgeRefused", "EdgeUnreachable"], () => new EdgeUnavailable())
      },
      Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die, NoSuchElementError: Effect.die })
    )
  }
})

export class Tunnels extends Context.Service<Tunnels, Effect.Success<typeof make>>()("server/Tunnels") {
  static readonly layer = Layer.effect(Tunnels, make)
}
