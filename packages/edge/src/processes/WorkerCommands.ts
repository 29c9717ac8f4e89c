/** Carries out what the main process says, in the order in which it says it. */
import { Effect } from "effect"
import { Orders, type OrdersShape } from "../orders/Orders.ts"
import type { Ipc } from "./WorkerChannel.ts"
import type { ToMain, ToWorker } from "./Message.ts"
import type { Order } from "../routes/RouteOrder.ts"
import type { ToldShape } from "./MainProcessServices.ts"

const apply = (orders: OrdersShape, report: Effect.Effect<void>, order: Order): Effect.Effect<void> => {
  switch (order._tag) {
    case "Authorise":
      return orders.authorise(order.host, order, order.login)
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
export const applyAll = Effect.fn("Carrying.applyAll")(function* (all: ReadonlyArray<Order>) {
  const orders = yield* Orders
  for (const order of all) yield* apply(orders, Effect.void, order)
})

/** One message after the greeting; `drain` must not wait for the end of what it begins. */
export const make = Effect.fn("Carrying.make")(function* (
  ipc: Ipc<ToMain, ToWorker>,
  told: ToldShape,
  { drain, report }: { readonly drain: Effect.Effect<void>; readonly report: Effect.Effect<void> }
) {
  const orders = yield* Orders
  return (message: ToWorker): Effect.Effect<void> => {
    switch (message._tag) {
      case "Tell": {
        const applied = Effect.sync(() => ipc.send({ _tag: "Applied", id: message.id }))
        return Effect.andThen(apply(orders, report, message.order), applied)
      }
      case "Leaf":
        return Effect.sync(() => told.leaf.replace(message.pair))
      case "Renewed":
        return Effect.sync(() => told.pairs.get(message.certificate)?.replace(message.pair))
      case "Owner":
        return Effect.sync(() => told.answered(message.id, message.owns))
      case "Drain":
        return drain
      case "Begin":
        return Effect.void
    }
  }
})
