/**
 * A socket in the state folder by which other programs of this user call the peers of a running room. The first request selects
 * the peer; the following ones are for that peer.
 */
import * as Envelope from "@catenet/crypto/rpc/Envelope"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Files } from "@catenet/platform/Files"
import { Sockets } from "@catenet/platform/Sockets"
import { guard } from "@catenet/wire/transport/FaultBoundary"
import { Data, Effect, FiberSet, Option, Result } from "effect"
import type { Server, Socket } from "node:net"
import { join } from "node:path"
import { AgentMetrics } from "../../observe/AgentMetrics.ts"
import { MessageReader, send } from "../rpc/MessageReader.ts"
import type * as RpcClient from "../rpc/RpcClient.ts"
import { textOf } from "../rpc/Tool.ts"
import type { RoomPair } from "./RoomPair.ts"

/** How long a call waits for an absent peer. */
const patience = "30 seconds"
/** Programs that call at the same time. */
const maxCallers = 64

export const pathIn = (stateDir: string): string => join(stateDir, "room.sock")

/** A connection to the room of this folder; none where no room runs. */
export const open = (stateDir: string) =>
  Effect.callback<Option.Option<Socket>>((resume) => {
    const socket = Sockets.dialTcp(pathIn(stateDir))
    socket.once("connect", () => resume(Effect.succeed(Option.some(socket))))
    socket.on("error", () => resume(Effect.succeed(Option.none())))
    return Effect.sync(() => socket.destroy())
  })

/** The room has no such peer, or the peer did not come. */
export class PeerAway extends Data.TaggedError("PeerAway")<{ readonly why: string }> {
  override get message() {
    return this.why
  }
}

const naming = "room/peer"

/** Selects the peer for this connection's requests, once that peer is present. */
export const name = Effect.fnUntraced(function* (client: RpcClient.RpcClient, peer: string) {
  const reply = yield* Effect.mapError(client.request(naming, { peer }), ({ message: why }) => new PeerAway({ why }))
  const named = Envelope.readResponse(reply)
  if (Result.isFailure(named)) return yield* new PeerAway({ why: named.failure.reason })
})

/** The peer named by the first request, if present. */
const named = Effect.fnUntraced(function* ({ id, method, params }: Envelope.Request, pairs: ReadonlyArray<RoomPair>) {
  const refuse = (reason: string) => new Envelope.RpcError({ id, code: Envelope.codes.toolFailed, reason })
  const peer = method === naming ? textOf(params ?? null, "peer") : undefined
  const pair = peer === undefined ? undefined : pairs.find((each) => each.isCalled(peer))
  if (pair === undefined) return yield* refuse("this room has no such peer")
  const client = yield* Effect.timeoutOption(pair.client, patience)
  if (Option.isSome(client)) return client.value
  const { reason, state } = pair.status
  return yield* refuse(`it is not there, and this member is ${state}${reason === undefined ? "" : `: ${reason}`}`)
})

const asked = ({ id, method, params }: Envelope.Request, client: RpcClient.RpcClient) =>
  Effect.map(client.request(method, params), (reply) =>
    Result.match(Envelope.readResponse(reply), {
      onSuccess: (result) => Envelope.success(id, result),
      onFailure: ({ code, reason }) => Envelope.refusal(id, code ?? Envelope.codes.internal, reason)
    })
  )

const serve = Effect.fnUntraced(function* (socket: Socket, pairs: ReadonlyArray<RoomPair>) {
  const inbox = new MessageReader(socket)
  let client: RpcClient.RpcClient | undefined
  while (true) {
    const message = yield* inbox.next
    if (message === undefined) return
    const response = yield* Effect.gen(function* () {
      const request = yield* Effect.fromResult(Envelope.readRequest(message))
      if (client !== undefined) return { id: request.id, text: yield* asked(request, client) }
      client = yield* named(request, pairs)
      return { id: request.id, text: Envelope.success(request.id, null) }
    }).pipe(Effect.catchTag("RpcError", (error) => Effect.succeed({ id: error.id, text: Envelope.failure(error) })))
    yield* send(socket, Envelope.fitting(response.id, response.text))
  }
})

class CannotListen extends Data.TaggedError("CannotListen")<{ readonly why: string }> {}

const listen = (server: Server, path: string) =>
  Effect.callback<void, CannotListen>((resume) => {
    server.once("error", ({ message: why }) => resume(Effect.fail(new CannotListen({ why }))))
    server.listen(path, () => resume(Effect.void))
  })

const bind = Effect.fnUntraced(function* (server: Server, stateDir: string) {
  const path = pathIn(stateDir)
  const running = yield* open(stateDir)
  if (Option.isSome(running)) {
    running.value.destroy()
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_STATE_DIR",
      "is that of a room that runs already",
      "end the other process, or give this one a folder of its own"
    )
  }
  // A killed process has left the socket.
  yield* Effect.promise(() => Files.rm(path, { force: true }))
  yield* listen(server, path)
  yield* Effect.promise(() => Files.chmod(path, 0o600))
})

/** Accepts calls while the scope is open. Without support for such sockets the room works without them. */
export const serving = Effect.fn("CallSocket.serving")(function* (stateDir: string, pairs: ReadonlyArray<RoomPair>) {
  const { ending } = yield* AgentMetrics
  const run = yield* FiberSet.makeRuntime()
  const callers = new Set<Socket>()
  const take = (socket: Socket) => {
    guard(socket, ending(socket))
    socket.on("error", () => {})
    if (callers.size >= maxCallers) return void socket.destroy()
    callers.add(socket)
    socket.once("close", () => callers.delete(socket))
    const served = Effect.ensuring(
      Effect.ignore(serve(socket, pairs)),
      Effect.sync(() => socket.end())
    )
    run(served)
  }
  const server = Sockets.tcpServer(take)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.close()
      for (const socket of callers) socket.destroy()
    })
  )
  yield* bind(server, stateDir).pipe(
    Effect.catchTag("CannotListen", ({ why }) =>
      Effect.logWarning(`${pathIn(stateDir)} cannot be opened (${why}): calls open sessions of their own`)
    )
  )
  server.on("error", () => {})
})
