/** A user's tunnels at the control plane. */
import { type Rules, StoredRules } from "@catenet/domain/rules/Rules"
import { Installation, Tunnel, type TunnelKind } from "@catenet/domain/tunnels/Tunnel"
import { Effect, Schema } from "effect"
import { Refused } from "../Failure.ts"
import { type Account, ask } from "./AccountClient.ts"

export const list = Effect.fn("TunnelClient.list")(function* (account: Account) {
  return yield* ask(account, { method: "GET", path: "/me/tunnels", answer: Schema.Array(Tunnel) })
})

interface Wanted {
  readonly hostname?: string
  readonly kind?: TunnelKind
  readonly port?: number
  readonly tls?: boolean
}

export const create = Effect.fn("TunnelClient.create")(function* (account: Account, name: string, wanted: Wanted = {}) {
  const body = { name, ...wanted }
  return yield* ask(account, { method: "POST", path: "/me/tunnels", body, answer: Tunnel })
})

/** Asks for another host name of the tunnel; one of the account's own leads to it once DNS proves it. */
const setHostname = Effect.fn("TunnelClient.setHostname")(function* (
  account: Account,
  { id, name }: Tunnel,
  hostname: string
) {
  yield* Effect.logInfo(`asking for the host name ${hostname} of the tunnel ${name}`)
  return yield* ask(account, {
    method: "PUT",
    path: `/me/tunnels/${id}/hostname`,
    body: { hostname },
    answer: Tunnel
  })
})

interface Served {
  readonly kind: TunnelKind
  readonly port: number | undefined
  readonly tls: boolean
  readonly host: string | undefined
}

interface TakeUp {
  /** The account's tunnels, asked for only if they are needed. */
  readonly list: ReturnType<typeof list>
  /** What to do where the tunnel of this name is another one, and where only its port is. */
  readonly remedy: { readonly other: string; readonly port: string }
}

/** The account's tunnel of this name, created if it does not exist. Another kind or port of a known one is refused. */
export const takeUp = Effect.fn("TunnelClient.takeUp")(function* (
  account: Account,
  name: string,
  { host, kind, port, tls }: Served,
  { list: listed, remedy }: TakeUp
) {
  const known = (yield* listed).find((tunnel) => tunnel.owned && tunnel.name === name)
  if (known === undefined) {
    const hostname = host === undefined ? {} : { hostname: host }
    const atPort = { kind, ...(port === undefined ? {} : { port }) }
    const made = yield* create(account, name, kind === "http" ? hostname : tls ? { kind, tls, ...hostname } : atPort)
    yield* Effect.logInfo(`made the tunnel ${name}`)
    return made
  }
  const refused = (what: string, then = remedy.other) => new Refused({ detail: `Your tunnel ${name} ${what}. ${then}` })
  if (known.kind !== kind) return yield* refused(`is of kind ${known.kind}, not ${kind}`)
  if (known.tls !== tls)
    return yield* refused(
      known.tls ? "is reached by TLS at a host name, not at a port" : "is reached at a port, not by TLS"
    )
  if (port !== undefined && known.port !== port)
    return yield* refused(`has port ${known.port}, which it keeps`, remedy.port)
  const isNamed = host === undefined || host === known.hostname || host === known.hostname_proof?.hostname
  return isNamed ? known : yield* setHostname(account, known, host)
})

/** Looks the proof of the tunnel's own host name up in DNS. */
export const verify = Effect.fn("TunnelClient.verify")(function* (account: Account, { id }: Tunnel) {
  return yield* ask(account, { method: "POST", path: `/me/tunnels/${id}/verify-hostname`, answer: Tunnel })
})

/** Only visitors who log in are let in from now on. */
export const requireLogin = Effect.fn("TunnelClient.requireLogin")(function* (account: Account, { id }: Tunnel) {
  const body = { require_login: true }
  return yield* ask(account, { method: "PATCH", path: `/me/tunnels/${id}`, body, answer: Tunnel })
})

const Ruled = Schema.Struct({ rules: StoredRules })
const encodeRules = Schema.encodeUnknownEffect(Ruled)

/** What is done with each request to the tunnel, in this order. */
export const rules = Effect.fn("TunnelClient.rules")(function* (account: Account, { id }: Tunnel) {
  return (yield* ask(account, { method: "GET", path: `/me/tunnels/${id}/rules`, answer: Ruled })).rules
})

/** Replaces them all. */
export const setRules = Effect.fn("TunnelClient.setRules")(function* (account: Account, { id }: Tunnel, wanted: Rules) {
  const body = yield* Effect.orDie(encodeRules({ rules: wanted }))
  yield* ask(account, { method: "PUT", path: `/me/tunnels/${id}/rules`, body, answer: Ruled })
})

export const remove = Effect.fn("TunnelClient.remove")(function* (account: Account, { id }: Tunnel) {
  yield* ask(account, { method: "DELETE", path: `/me/tunnels/${id}`, answer: Schema.Unknown })
})

/** What an agent needs to serve the tunnel, with a new join token. */
export const install = Effect.fn("TunnelClient.install")(function* (account: Account, { id }: Tunnel) {
  return yield* ask(account, { method: "POST", path: `/me/tunnels/${id}/install`, body: {}, answer: Installation })
})

/** The account's own tunnel with this id, host name or name; it must be unique. */
export const named = Effect.fn("TunnelClient.named")(function* (account: Account, wanted: string) {
  const own = (yield* list(account)).filter(({ owned }) => owned)
  const byId = own.filter(({ hostname, id }) => id === wanted || hostname === wanted)
  const found = byId.length > 0 ? byId : own.filter(({ name }) => name === wanted)
  const [only, ...others] = found
  if (only === undefined) return yield* new Refused({ detail: `You have no tunnel ${wanted}. See ct-agent tunnels.` })
  if (others.length > 0)
    return yield* new Refused({
      detail: `You have ${found.length} tunnels called ${wanted}. Name one by its id: ${found.map(({ id }) => id).join(", ")}.`
    })
  return only
})
