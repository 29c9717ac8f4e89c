/** How an edge reaches another one: at its mesh port, where the shared CA proves it, and by the admin token that both have. */
import type { Address } from "@catenet/config/NetworkParser"
import { type Admission, decodeReply, encodeAdmission } from "@catenet/wire/frames/Role"
import { guard, type OnFault } from "@catenet/wire/transport/FaultBoundary"
import { FrameReader } from "@catenet/wire/transport/FrameReader"
import { Effect, Result } from "effect"
import { connect as connectTcp, type Socket } from "node:net"
import { connect, type TLSSocket } from "node:tls"

const dialTimeout = "10 seconds"
const replyMillis = 10_000

export const dial = (address: Address, ca: string, ending: (socket: Socket) => OnFault) =>
  Effect.callback<TLSSocket, Error>((resume) => {
    const raw = connectTcp({ ...address, allowHalfOpen: true, noDelay: true })
    const socket = connect({ socket: raw, servername: "localhost", ca, minVersion: "TLSv1.2" })
    for (const one of [raw, socket]) guard(one, ending(raw))
    raw.on("error", (error) => resume(Effect.fail(error)))
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.once("secureConnect", () => resume(Effect.succeed(socket)))
    return Effect.sync(() => raw.destroy())
  }).pipe(Effect.timeout(dialTimeout))

/** Says what the connection is to be; true when the peer takes it. */
export const introduce = (socket: TLSSocket, admission: Extract<Admission, { readonly role: "M" | "H" }>) =>
  Effect.promise(async () => {
    const reader = new FrameReader(socket)
    socket.write(encodeAdmission(admission))
    const reply = await reader.next(decodeReply, replyMillis)
    reader.release()
    return Result.isSuccess(reply) && reply.success
  })
