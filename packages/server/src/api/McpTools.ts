/** The tools of `/mcp`: an account's own things, to read. Each answers what the route of the API answers that has the same facts. */
import { OwnDirectoryEntry } from "@catenet/domain/agents/Directory"
import type { Caller } from "@catenet/domain/api/Access"
import { Channel, ChannelId } from "@catenet/domain/channels/Channel"
import { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { FleetRow, UptimeReport } from "@catenet/domain/tunnels/Usage"
import { lowerAscii } from "@catenet/domain/values/AsciiCase"
import { AuditEntry } from "@catenet/domain/values/AuditEffect"
import { Effect, Option, Record, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Directory } from "../agents/Directory.ts"
import { Channels } from "../channels/Channels.ts"
import { Audits } from "../identity/Audits.ts"
import { Records } from "../tunnels/records/Records.ts"
import { Tunnels } from "../tunnels/Tunnels.ts"

type Account = Caller["Service"]

/** Entries of a list in one answer. */
export const pageSize = 100

/** The arguments are wrong, or there is no such thing; `message` is for the caller. */
export interface ToolRefused {
  readonly message: string
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
  /** An object. */
  readonly run: (
    account: Account,
    args: unknown
  ) => Effect.Effect<object, ToolRefused, HttpServerRequest.HttpServerRequest>
}

const wrong = (message: string) => Effect.fail<ToolRefused>({ message })

const From = Schema.Struct({
  from: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })))
})
const readFrom = Schema.decodeUnknownOption(From)

const list = <A, I>(
  name: string,
  description: string,
  entry: Schema.Codec<A, I>,
  all: (account: Account) => Effect.Effect<ReadonlyArray<A>, never, HttpServerRequest.HttpServerRequest>
): Tool => {
  const encode = Schema.encodeEffect(Schema.Array(entry))
  return {
    name,
    description: `${description} One answer has ${pageSize} of them.`,
    inputSchema: {
      type: "object",
      properties: {
        from: { type: "integer", minimum: 0, description: "Entries to leave out: next_from of the answer before." }
      }
    },
    run: Effect.fnUntraced(function* (account, args) {
      const given = readFrom(args)
      if (Option.isNone(given)) return yield* wrong("from takes a whole number of 0 or more")
      const { from = 0 } = given.value
      const entries = yield* all(account)
      const shown = yield* Effect.orDie(encode(entries.slice(from, from + pageSize)))
      const next = from + pageSize
      return { entries: shown, ...(next < entries.length ? { next_from: next } : {}) }
    })
  }
}

const one = <A extends object, I extends object, K, E extends ToolRefused>(
  name: string,
  description: string,
  [argument, key]: readonly [name: string, key: Schema.Codec<K, string>],
  answer: Schema.Codec<A, I>,
  get: (account: Account, key: K) => Effect.Effect<A, E>
): Tool => {
  const read = Schema.decodeUnknownOption(Schema.Record(Schema.String, Schema.Unknown))
  const readKey = Schema.decodeUnknownOption(key)
  const encode = Schema.encodeEffect(answer)
  return {
    name,
    description,
    inputSchema: { type: "object", properties: { [argument]: { type: "string" } }, required: [argument] },
    run: Effect.fnUntraced(function* (account, args) {
      const id = Option.flatMap(Option.flatMap(read(args), Record.get(argument)), readKey)
      if (Option.isNone(id)) return yield* wrong(`${argument} is missing, or has not the form of one`)
      return yield* Effect.orDie(encode(yield* get(account, id.value)))
    })
  }
}

export const make = Effect.gen(function* () {
  const tunnels = yield* Tunnels
  const channels = yield* Channels
  const records = yield* Records
  const directory = yield* Directory
  const audits = yield* Audits
  const tunnel = ["id", Schema.String] as const
  const all: ReadonlyArray<Tool> = [
    list("list_tunnels", "Your tunnels and those granted to you.", Tunnel, (account) => tunnels.list(account, {})),
    one("get_tunnel", "One tunnel.", tunnel, Tunnel, (account, id) => tunnels.get(account, id)),
    one("tunnel_uptime", "Uptime, sessions and bytes of one tunnel.", tunnel, UptimeReport, (account, id) =>
      records.uptime(account, id)
    ),
    list("list_states", "How each of your tunnels is being served now.", FleetRow, (account) =>
      records.fleet(account, {})
    ),
    list("list_channels", "The ids of your channels.", ChannelId, (account) => channels.list(account, {})),
    one("get_channel", "One channel.", ["channel", ChannelId], Channel, (account, id) => channels.get(account, id)),
    list("list_agents", "Your agents in the public directory.", OwnDirectoryEntry, (account) =>
      directory.listOwn(account, {})
    ),
    list("list_events", "What you have changed, newest first.", AuditEntry, ({ subject }) =>
      audits.list({ actor: lowerAscii(subject), limit: 1000 })
    )
  ]
  return all
})
