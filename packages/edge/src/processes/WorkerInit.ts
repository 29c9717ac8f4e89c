/** The first message to a worker: everything that this process knows at that moment. Sends certificates and ticket keys that change later. */
import { type Address, formatAddress } from "@catenet/platform/NetworkParser"
import { Effect, Redacted, References } from "effect"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { Routes } from "../routes/Routes.ts"
import { ProcessIdentity } from "../sessions/ProcessIdentity.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import type { Pair } from "../tls/CertificateSource.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import type { ToWorker } from "./WorkerMessages.ts"

/** Public listeners by the variable that names their address. */
export type Addresses = ReadonlyMap<string, Address>

/** `send` gets every certificate that is replaced from now on, and all ticket keys at each change. */
export const make = Effect.fn("WorkerInit.make")(function* (
  folder: string,
  addresses: Addresses,
  send: (message: ToWorker) => void
) {
  const { given } = yield* Settings
  const { leaf, root } = yield* CertificateAuthority
  const { followed } = yield* CertificateFiles
  const tickets = yield* SessionTickets
  const routes = yield* Routes
  const { edgeProcess } = yield* ProcessIdentity
  const edge = Buffer.from(edgeProcess?.edge ?? []).toString("hex")
  const logLevel = yield* References.MinimumLogLevel
  const bound = Object.fromEntries(Array.from(addresses, ([name, address]) => [name, formatAddress(address)]))
  const variables = { ...(given === undefined ? {} : Redacted.value(given)), ...bound }

  leaf.onReplaced((pair: Pair) => send({ _tag: "LeafReplaced", pair }))
  for (const [certificate, source] of followed)
    source.onReplaced((pair) => send({ _tag: "PairReplaced", certificate, pair }))

  tickets.onChanged(() => send({ _tag: "TicketKeysChanged", keys: tickets.contents }))

  return (index: number) => ({
    _tag: "Init" as const,
    variables,
    index,
    edge,
    folder,
    logLevel,
    root: root.toString("base64"),
    leaf: leaf.current,
    pairs: Array.from(followed, ([certificate, source]) => [certificate, source.current] as const),
    ticketKeys: tickets.contents,
    orders: routes.orders()
  })
})
