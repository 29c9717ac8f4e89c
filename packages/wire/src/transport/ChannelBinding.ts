/** Bytes that only the two ends of one TLS session know (RFC 5705 exporter), to bind a signature to that session. */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import type { TLSSocket } from "node:tls"

const label = "EXPORTER-catenet-mux-registration"

/** 32 bytes, the same at both ends; fails before the handshake is done. */
export const channelBinding = (socket: TLSSocket, challenge: Uint8Array): Result.Result<Buffer, unknown> =>
  Result.try(() => socket.exportKeyingMaterial(32, label, Buffer.from(challenge)))
