/** The DNS records without which nobody reaches a platform: which of them are missing, in the form of a zone file. */
import { Sockets } from "@catenet/platform/Sockets"
import { Effect } from "effect"
import { networkInterfaces } from "node:os"

/** A label that no operator has made a record for: it is there where the wildcard is. */
const probe = "catenet-check"

const labels = [
  { label: "portal", asked: "portal" },
  { label: "auth", asked: "auth" },
  { label: "*", asked: probe }
] as const

const found = (ask: () => Promise<ReadonlyArray<string>>) =>
  Effect.orElseSucceed(Effect.tryPromise(ask), (): ReadonlyArray<string> => [])

const isThere = Effect.fnUntraced(function* (name: string) {
  const resolver = Sockets.resolver({ timeout: 3_000, tries: 2 })
  const answers = yield* Effect.all([found(() => resolver.resolve4(name)), found(() => resolver.resolve6(name))], {
    concurrency: "unbounded"
  })
  return answers.flat().length > 0
})

/** Addresses of this machine that others may reach, or a place to write one. */
const ownAddresses = () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const outside = own.filter(({ address, internal }) => !internal && !/^(?:fe80|f[cd])/iu.test(address))
  const of = (family: string) => outside.find((each) => each.family === family)?.address
  return { a: of("IPv4") ?? "<the server's IPv4 address>", aaaa: of("IPv6") }
}

/** A line for each record that is missing; none is missing where an address of either kind is. */
export const missing = Effect.fn("DnsRecords.missing")(function* (domain: string) {
  const there = yield* Effect.forEach(labels, ({ asked }) => isThere(`${asked}.${domain}`), {
    concurrency: "unbounded"
  })
  const { a, aaaa } = ownAddresses()
  return labels.flatMap(({ label }, index) => {
    if (there[index] === true) return []
    const name = `${label}.${domain}.`.padEnd(domain.length + 10)
    const line = `${name} 300 IN A    ${a}`
    return aaaa === undefined ? [line] : [line, `${name} 300 IN AAAA ${aaaa}`]
  })
})
