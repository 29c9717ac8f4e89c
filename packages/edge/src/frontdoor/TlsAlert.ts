/** Fatal TLS alerts (RFC 8446 section 6), sent in the clear before any handshake message of ours. */
import { closeGracefully } from "@catenet/wire/transport/LingeringClose"
import type { Socket } from "node:net"

const alertCodes = { unrecognizedName: 112, internalError: 80, decodeError: 50 } as const

export type Alert = keyof typeof alertCodes

/** The whole record: alert, fatal, code. */
const record = (alert: Alert): Buffer => Buffer.of(0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alertCodes[alert])

/** Sends the alert and closes. */
export const refuse = (socket: Socket, alert: Alert): void => {
  socket.end(record(alert))
  closeGracefully(socket)
}
