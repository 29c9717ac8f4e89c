/**
 * The other processes of this edge, as whoever gives orders sees them: an order counts as carried out when all of them have
 * carried it out. An edge of one process has none.
 */
import { Context, Effect, Layer } from "effect"
import type { Order } from "./RouteOrder.ts"

/** Sends the order at once; what it returns ends when the order is in force there, or when nobody is left there to break it. */
export type Follower = (order: Order) => Effect.Effect<void>

export interface FollowersShape {
  /** Tells all of them at once, before the effect runs that waits for them. */
  readonly tell: (order: Order) => Effect.Effect<void>
  readonly alone: () => boolean
  /** Orders from now on reach the follower, in their order. Returns how to leave. */
  readonly join: (follower: Follower) => () => void
}

export class Followers extends Context.Service<Followers, FollowersShape>()("edge/processes/Followers") {
  static readonly layer = Layer.sync(Followers, () => {
    const followers = new Set<Follower>()
    return {
      tell: (order) => {
        if (followers.size === 0) return Effect.void
        const told = Array.from(followers, (follower) => follower(order))
        return Effect.all(told, { concurrency: "unbounded", discard: true })
      },
      alone: () => followers.size === 0,
      join: (follower) => {
        followers.add(follower)
        return () => followers.delete(follower)
      }
    }
  })
}
