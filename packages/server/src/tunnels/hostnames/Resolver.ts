/**
 * Looks up the records that prove a host name in public DNS, with the system's resolvers or those of
 * CT_CP_DNS_RESOLVERS. Nothing is cached.
 */
import type { ProofRecord } from "@catenet/domain/tunnels/HostnameOwnership"
import { isIPv6 } from "@catenet/platform/IpAddress"
import { Sockets } from "@catenet/platform/Sockets"
import { Context, Effect, Layer, Semaphore } from "effect"
import type * as Dns from "node:dns/promises"
import { Settings } from "../../settings/Settings.ts"

/** `missing`: DNS answered, and no record is there. `unanswered`: it did not answer. */
export type Outcome = "proved" | "missing" | "unanswered"

/** Host names that one process looks up at a time; more wait. */
const maxAtOnce = 16
/**
 * Of one account. The others of it wait beside the queue, so that names whose servers never answer hold up the account that brought
 * them and leave places for everybody else.
 */
export const maxPerAccount = 2

interface Turns {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/** No such name, no such record, or a name that DNS cannot have. Everything else says nothing. */
const absent = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

const isAbsent = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && absent.has(String(error.code))

const plain = (name: string) => name.toLowerCase().replace(/\.$/u, "")

const valuesOf = async (resolver: Dns.Resolver, { name, type }: ProofRecord): Promise<ReadonlyArray<string>> =>
  type === "TXT"
    ? (await resolver.resolveTxt(name)).map((strings) => strings.join(""))
    : (await resolver.resolveCname(name)).map(plain)

const look = (resolver: Dns.Resolver, record: ProofRecord): Promise<Outcome> =>
  valuesOf(resolver, record).then(
    (values) => (values.includes(record.value) ? "proved" : "missing"),
    (error) => (isAbsent(error) ? "missing" : "unanswered")
  )

export class Resolver extends Context.Service<
  Resolver,
  {
    /** Whether one of the records is in DNS. `account`: who asks. */
    readonly look: (account: string, records: ReadonlyArray<ProofRecord>) => Effect.Effect<Outcome>
  }
>()("server/tunnels/hostnames/Resolver") {
  static readonly make = Effect.gen(function* () {
    const { dnsResolvers } = yield* Settings
    const places = yield* Semaphore.make(maxAtOnce)
    const accounts = new Map<string, Turns>()
    const turnOf = (account: string) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const turns = accounts.get(account) ?? { semaphore: Semaphore.makeUnsafe(maxPerAccount), users: 0 }
          turns.users += 1
          accounts.set(account, turns)
          return turns.semaphore
        }),
        () =>
          Effect.sync(() => {
            const turns = accounts.get(account)
            if (turns === undefined) return
            turns.users -= 1
            if (turns.users === 0) accounts.delete(account)
          })
      )
    const servers = dnsResolvers?.map(({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`))

    return {
      look: Effect.fn("Resolver.look")(function* (account: string, records: ReadonlyArray<ProofRecord>) {
        const turn = yield* turnOf(account)
        return yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            const resolver = Sockets.resolver({ timeout: 1500, tries: 2 })
            if (servers !== undefined) resolver.setServers(servers)
            return resolver
          }),
          (resolver) =>
            Effect.promise(async (): Promise<Outcome> => {
              const outcomes = await Promise.all(records.map((record) => look(resolver, record)))
              if (outcomes.includes("proved")) return "proved"
              return outcomes.includes("unanswered") ? "unanswered" : "missing"
            }),
          (resolver) => Effect.sync(() => resolver.cancel())
        ).pipe(places.withPermits(1), turn.withPermits(1))
      }, Effect.scoped)
    }
  })

  static readonly layerNoDeps = Layer.effect(Resolver, Resolver.make)
  static readonly layer = Resolver.layerNoDeps
}
