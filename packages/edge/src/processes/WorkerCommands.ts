/** Carries out what the main process says, in the order in which it says it. */
import { Effect } from "effect"
import { Orders } from "../orders/Orders.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import type { ToMain, ToWorker } from "./WorkerMessages.ts"
import type { RouteOrder } from "../routes/RouteOrder.ts"
import type { FromMainProcess } from "./MainProcessServices.ts"

const apply = (orders: Orders["Service"], report: Effect.Effect<void>, order: RouteOrder): Effect.Effect<void> => {
  switch (order._tag) {
    case "Authorize":
      return orders.authorize(order.host, order, order.login)
    case "SetLogin":
      return orders.setLogin(order.token, order.required)
    case "Revoke":
      return orders.revoke(order.token, order.successor)
    case "SetAgentKeys":
      return orders.setAgentKeys(order.token, order.keys, order.proof)
    case "SetHttpOnly":
      return orders.setHttpOnly(order.token, order.required)
    case "Report":
      return report
    case "SetPolicy":
      return orders.setPolicy(order.token, order.policy)
  }
}

/** All orders of a greeting. */
export const applyAll = Effect.fn("WorkerCommands.applyAll")(function* (all: ReadonlyArray<RouteOrder>) {
  const orders = yield* Orders
  for (const order of all) yield* apply(orders, Effect.void, order)
})

/** One message after the greeting; `drain` must not wait for the end of what it begins. */
export const make = Effect.fn("WorkerCommands.make")(function* (
  channel: WorkerChannel<ToMain, ToWorker>,
  main: FromMainProcess,
  { drain, report }: { readonly drain: Effect.Effect<void>; readonly report: Effect.Effect<void> }
) {
  const orders = yield* Orders
  return (message: ToWorker): Effect.Effect<void> => {
    switch (message._tag) {
      case "Tell": {
        const applied = Effect.sync(() => channel.send({ _tag: "Applied", id: message.id }))
        return Effect.andThen(apply(orders, report, message.order), applied)
      }
      case "Leaf":
        return Effect.sync(() => main.leaf.replace(message.pair))
      case "Renewed":
        return Effect.sync(() => main.pairs.get(message.certificate)?.replace(message.pair))
      case "Owner":
        return Effect.sync(() => main.answered(message.id, message.owns))
      case "Drain":
        return drain
      case "Init":
        return Effect.void
    }
  }
})
