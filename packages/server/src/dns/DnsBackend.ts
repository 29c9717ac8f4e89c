/**
 * Chooses the DNS back end by configuration: dynamic update (RFC 2136, RFC 8945) if a server is set, deSEC if a token
 * is set, or the operator's command.
 */
import type { Address } from "@catenet/platform/NetworkParser"
import { Sockets } from "@catenet/platform/Sockets"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as OutgoingHttp from "../http/OutgoingHttp.ts"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import * as Message from "./DnsMessage.ts"
import { ChangeRefused, DnsProvider, type RecordSet } from "./DnsProvider.ts"
import { exchange } from "./DnsQuery.ts"
import * as ExecHook from "./ExecHook.ts"
import * as Tsig from "./Tsig.ts"

// The back end for a name server that takes signed dynamic updates (RFC 2136, RFC 8945), such as BIND or Knot.

/** Seconds for which resolvers may keep a record. */
const updateTtl = 60

/** A message id that cannot be guessed. */
export const freshId = Effect.map(
  SecureRandom.SecureRandom.use((random) => random.randomBytes(2)),
  ([high = 0, low = 0]) => (high << 8) | low
)

export const makeRfc2136 = Effect.fnUntraced(function* (to: {
  readonly server: Address
  readonly zone: string
  readonly key: Tsig.Key
}) {
  const random = yield* SecureRandom.SecureRandom
  return {
    set: Effect.fn("DnsBackend.set")(
      function* ({ name, type, values }: RecordSet) {
        const data = values.map(type === "TXT" ? Message.txt : Message.address)
        const message = Message.update(yield* freshId, {
          zone: to.zone,
          name,
          type: Message.Type[type],
          ttl: updateTtl,
          data
        })
        const signed = Tsig.sign(message, to.key, yield* unixSeconds)
        const { answer, bytes } = yield* exchange(to.server, signed.message)
        if (answer.rcode !== Message.Rcode.NoError) {
          return yield* new ChangeRefused({ why: `the name server answered with code ${answer.rcode}` })
        }
        if (!Tsig.verify(bytes, answer, signed, to.key, yield* unixSeconds)) {
          return yield* new ChangeRefused({ why: "the answer is not signed with the key" })
        }
      },
      Effect.catchTag("DnsUnreachable", ({ message }) => Effect.fail(new ChangeRefused({ why: message }))),
      Effect.provideService(SecureRandom.SecureRandom, random)
    )
  }
})

// The back end for deSEC and what is shaped like it: record sets changed over HTTP, with a token.

/** Seconds for which resolvers may keep a record; the least that the service allows. */
const ttl = 3600

/** The part of a name below the zone; empty for the zone itself. */
const below = (name: string, zone: string) => (name === zone ? "" : name.slice(0, -zone.length - 1))

const quoted = (text: string) => `"${text.replace(/[\\"]/g, (sign) => `\\${sign}`)}"`

export const makeDesec = Effect.fnUntraced(function* (to: {
  readonly base: URL
  readonly zone: string
  readonly token: Redacted.Redacted
}) {
  const client = yield* HttpClient.HttpClient
  const address = `${to.base.href.replace(/\/$/, "")}/domains/${encodeURIComponent(to.zone)}/rrsets/`
  return {
    set: Effect.fn("DnsBackend.set")(function* ({ name, type, values }: RecordSet) {
      const records = type === "TXT" ? values.map(quoted) : values
      const change = [{ subname: below(name, to.zone), type, ttl, records }]
      const request = HttpClientRequest.patch(address).pipe(
        HttpClientRequest.setHeader("authorization", `Token ${Redacted.value(to.token)}`),
        HttpClientRequest.bodyJsonUnsafe(change)
      )
      const { status } = yield* client.execute(request).pipe(
        Effect.timeout("8 seconds"),
        Effect.mapError((cause) => new ChangeRefused({ why: `no answer (${cause._tag})` }))
      )
      if (status >= 300) return yield* new ChangeRefused({ why: `the service answered ${status}` })
    })
  }
})

/** The name servers of a zone, by the world's own account: its NS records and their addresses. */
const found = (resolve: () => Promise<ReadonlyArray<string>>) =>
  Effect.orElseSucceed(Effect.tryPromise(resolve), (): ReadonlyArray<string> => [])

/** The addresses of all name servers. A zone without any cannot be waited for. */
const ofZone = Effect.fn("DnsBackend.ofZone")(function* (zone: string) {
  const resolver = Sockets.resolver()
  const names = yield* found(() => resolver.resolveNs(zone))
  const addresses = yield* Effect.forEach(
    names.flatMap((name) => [found(() => resolver.resolve4(name)), found(() => resolver.resolve6(name))]),
    (each) => each,
    { concurrency: "unbounded" }
  )
  const servers = addresses.flat().map((host): Address => ({ host, port: 53 }))
  return servers.length === 0 ? yield* new ChangeRefused({ why: `no name server of ${zone} is known` }) : servers
})

const plain = (zone: string) => zone.toLowerCase().replace(/\.$/, "")

/** The servers that the world asks: those that are named, or what the zone says of itself. */
const authoritativeOf = (zone: string, named: ReadonlyArray<Address> | undefined) =>
  named === undefined ? ofZone(zone) : Effect.succeed(named)

const none: DnsProvider["Service"] = {
  zone: undefined,
  set: () => Effect.fail(new ChangeRefused({ why: "there is no DNS back end" })),
  authoritative: Effect.succeed([])
}

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const {
    desecApiBase,
    desecDomain,
    desecToken,
    dnsServers: named,
    dnsUpdateKey,
    dnsUpdateKeyName,
    dnsUpdateServer
  } = settings
  if (dnsUpdateServer !== undefined && settings.dnsUpdateZone !== undefined && dnsUpdateKey !== undefined) {
    const zone = plain(settings.dnsUpdateZone)
    const key = { name: dnsUpdateKeyName, secret: dnsUpdateKey }
    const { set } = yield* makeRfc2136({ server: dnsUpdateServer, zone, key })
    return { zone, set, authoritative: Effect.succeed(named ?? [dnsUpdateServer]) }
  }
  if (desecToken !== undefined && desecDomain !== undefined) {
    const zone = plain(desecDomain)
    const { set } = yield* makeDesec({ base: desecApiBase, zone, token: desecToken })
    return { zone, set, authoritative: authoritativeOf(zone, named) }
  }
  const { dnsHook, dnsHookEnvironment = {}, dnsHookTimeoutSeconds, dnsHookZone } = settings
  if (dnsHook !== undefined && dnsHookZone !== undefined) {
    const zone = plain(dnsHookZone)
    const { set } = ExecHook.make({
      command: dnsHook,
      zone,
      environment: dnsHookEnvironment,
      timeoutSeconds: dnsHookTimeoutSeconds
    })
    return { zone, set, authoritative: authoritativeOf(zone, named) }
  }
  const parts = [dnsUpdateServer, settings.dnsUpdateZone, dnsUpdateKey, desecToken, desecDomain, dnsHook, dnsHookZone]
  const isHalf = parts.some((value) => value !== undefined)
  if (isHalf) yield* Effect.logWarning("The DNS back end is disabled: it is only partly configured.")
  return none
})

export const layer: Layer.Layer<DnsProvider, never, Settings | SecureRandom.SecureRandom> = Layer.effect(
  DnsProvider,
  make
).pipe(Layer.provide(OutgoingHttp.layer))
