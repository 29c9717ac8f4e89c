/**
 * Connections to the one of several servers that takes writes. After a fail-over that is another one: whenever a connection ends,
 * and every few seconds, it is looked for again in the order of the URL, and connections to others are ended.
 */
import { retryForever } from "@catenet/platform/RetryForever"
import type { Socket } from "@catenet/platform/Sockets"
import { Effect, FiberHandle, type Redacted, Schedule } from "effect"
import type { SqlClient } from "effect/sql"
import * as CorkedSocket from "../fastpath/CorkedSocket.ts"
import * as Pooler from "./Pooler.ts"

/** A server that was made a standby while its connections stayed open is noticed after so long. */
const watched = "3 seconds"

/** `first` takes writes now. With one server `stream` only opens connections to it, or is `undefined` where it is no TCP server. */
export const make = Effect.fn("DatabaseServers.make")(function* (servers: Pooler.Servers, first: Redacted.Redacted) {
  const { others = [], url } = servers
  let current = CorkedSocket.addressOf(first)
  if (others.length === 0 || current === undefined) {
    const address = CorkedSocket.addressOf(url)
    const stream = address === undefined ? undefined : () => CorkedSocket.open(address)
    return { stream, watch: () => Effect.void }
  }
  const opened = new Map<Socket, CorkedSocket.Address>()
  const handle = yield* FiberHandle.make<void>()
  const seek = Effect.gen(function* () {
    const found = yield* Pooler.lookedAtAll(servers)
    const address = found.isReadOnly ? undefined : CorkedSocket.addressOf(found.url)
    if (address === undefined) return
    if (address.host !== current?.host || address.port !== current.port)
      yield* Effect.logWarning("Another server of the database takes the writes now.").pipe(
        Effect.annotateLogs({ server: `${address.host}:${address.port}` })
      )
    current = address
    for (const [socket, { host, port }] of opened) if (host !== address.host || port !== address.port) socket.destroy()
  }).pipe(Effect.ignore)
  const run = yield* FiberHandle.runtime(handle)<never>()
  const stream = () => {
    const address = current ?? { host: "localhost", port: 5432 }
    const socket = CorkedSocket.open(address)
    opened.set(socket, address)
    return socket.once("close", () => {
      opened.delete(socket)
      run(seek, { onlyIfMissing: true })
    })
  }
  const watch = (client: SqlClient.SqlClient) =>
    client<{
      readonly isReadOnly: boolean
    }>`select current_setting('transaction_read_only') = 'on' as is_read_only`.pipe(
      Effect.flatMap(([row]) => (row?.isReadOnly === true ? seek : Effect.void)),
      Effect.ignore,
      Effect.repeat(Schedule.spaced(watched)),
      retryForever("asking whether the database takes writes"),
      Effect.forkScoped
    )
  return { stream, watch }
})
