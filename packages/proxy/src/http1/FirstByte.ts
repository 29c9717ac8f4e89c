/** Waits for a visitor whose TLS stands to say something. Until then it costs a socket and nothing else. */
import { Scheduler } from "@catenet/platform/Scheduler"
import { guarded, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import type { TLSSocket } from "node:tls"

/** Browsers that connect ahead of time ask within this, or connect anew. */
export const silenceMillis = 15_000

/** Calls back with true when something came, which stays in the socket; with false when it left or was silent for too long. */
export const awaitFirstByte = (socket: TLSSocket, onFault: OnFault, then: (spoke: boolean) => void): void => {
  if (socket.readableLength > 0 || socket.destroyed) return then(socket.readableLength > 0)
  const settle = guarded(onFault, () => {
    Scheduler.clearTimeout(timer)
    socket.off("readable", settle).off("close", settle)
    then(socket.readableLength > 0)
  })
  const timer = Scheduler.setTimeout(settle, silenceMillis).unref()
  return void socket.on("readable", settle).on("close", settle)
}
