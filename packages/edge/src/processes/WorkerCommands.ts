/** Carries out the messages of the main process, one after the other. */
import { Effect } from "effect"
import { Orders } from "../orders/Orders.ts"
import type { RouteOrder } from "../routes/RouteOrder.ts"
import { type FromMainProcess, ticketKeys } from "./MainProcessServices.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import type { ToMain, ToWorker } from "./WorkerMessages.ts"

const apply = (orders: Orders["Service"], report: Effect.Effect<void>, order: RouteOrder): Effect.Effect<void> => {
  switch (order._tag) {
    case "AuthorizeHost":
      return orders.authorize(
        order.hostname,
        {
          token: order.token,
          tier: order.tier,
          admissionUntil: order.admissionUntil ?? null,
          account: order.account
        },
        order.requireLogin
      )
    case "SetLogin":
      return orders.setLogin(order.token, order.required)
    case "Revoke":
      return orders.revoke(order.token, order.successor)
    case "SetAgentKeys":
      return orders.setAgentKeys(order.token, order.keys, order.proof)
    case "SetOptions":
      return orders.setOptions(order.token, order.options)
    case "CutMembers":
      return orders.cutMembers(order)
    case "Report":
      return report
    case "SetAccessPolicy":
      return orders.setPolicy(order.token, order.policy)
  }
}

/** Applies the orders that came with `Init`. */
export const applyAll = Effect.fn("WorkerCommands.applyAll")(function* (all: ReadonlyArray<RouteOrder>) {
  const orders = yield* Orders
  for (const order of all) yield* apply(orders, Effect.void, order)
})

/** Carries out one message after `Init`; `drain` must not wait for the end of what it begins. */
export const make = Effect.fn("WorkerCommands.make")(function* (
  channel: WorkerChannel<ToMain, ToWorker>,
  main: FromMainProcess,
  { drain, report }: { readonly drain: Effect.Effect<void>; readonly report: Effect.Effect<void> }
) {
  const orders = yield* Orders
  return (message: ToWorker): Effect.Effect<void> => {
    switch (message._tag) {
      case "Apply": {
        const applied = Effect.sync(() => channel.send({ _tag: "Applied", id: message.id }))
        return Effect.andThen(apply(orders, report, message.order), applied)
      }
      case "LeafReplaced":
        return Effect.sync(() => main.leaf.replace(message.pair))
      case "PairReplaced":
        return Effect.sync(() => main.pairs.get(message.certificate)?.replace(message.pair))
      case "TicketKeysChanged":
        return Effect.sync(() => main.tickets.follow(ticketKeys(message.keys)))
      case "Ownership":
        return Effect.sync(() => main.ownershipAnswered(message.id, message.owns))
      case "Drain":
        return drain
      case "Init":
        return Effect.void
    }
  }
})
