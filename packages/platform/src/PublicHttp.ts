/**
 * HTTP to an address that a stranger has chosen: the name is resolved first, an address that must not be called is refused, and the
 * connection goes to the very address that was checked. Redirects are not followed and the answer's body is not read.
 *
 * `fetch` would resolve the name again after the check, so this uses Node's own client.
 */
import { Data, Effect } from "effect"
import { Http } from "./Http.ts"
import { BlockList, isIP } from "./IpAddress.ts"
import { Sockets } from "./Sockets.ts"

const special = new BlockList()
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4]
] as const) {
  special.addSubnet(network, prefix, "ipv4")
}
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3fff::", 20]
] as const) {
  special.addSubnet(network, prefix, "ipv6")
}

/** All that is routed on the public internet; everything else of IPv6 is reserved, local, mapped or multicast. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet("2000::", 3, "ipv6")

/**
 * Whether an address belongs to the public internet. Loopback, private, shared, link-local, metadata, unique-local, multicast,
 * documentation and translated addresses do not, and neither does what is no address. The ranges are those of the IANA
 * special-purpose registries (RFC 6890 and its updates). A zone (`%eth0`) makes an address local.
 */
export const isPublic = (address: string): boolean => {
  if (address.includes("%")) return false
  switch (isIP(address)) {
    case 4:
      return !special.check(address, "ipv4")
    case 6:
      return globalUnicast.check(address, "ipv6") && !special.check(address, "ipv6")
    default:
      return false
  }
}

/** The host did not answer. */
export class Unreachable extends Data.TaggedError("Unreachable") {}

/** The host is at an address that must not be called. */
export class Forbidden extends Data.TaggedError("Forbidden") {}

export interface Message {
  readonly method?: "POST" | "PUT"
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

interface Address {
  readonly address: string
  readonly family: number
}

const addressesOf = (host: string): Effect.Effect<ReadonlyArray<Address>, Unreachable> => {
  const family = isIP(host)
  return family !== 0
    ? Effect.succeed([{ address: host, family }])
    : Effect.tryPromise({
        try: () => Sockets.lookup(host, { all: true, verbatim: true }),
        catch: () => new Unreachable()
      })
}

/** The address to connect to. A name with one address that must not be called is refused as a whole. */
const checked = Effect.fnUntraced(function* (url: URL, mayCall: (address: string) => boolean) {
  const addresses = yield* addressesOf(url.hostname.replace(/^\[(.*)\]$/u, "$1"))
  const [first] = addresses
  if (first === undefined) return yield* new Unreachable()
  if (!addresses.every(({ address }) => mayCall(address))) return yield* new Forbidden()
  return first
})

const request = (url: URL, to: Address, { body, headers, method = "POST" }: Message) =>
  Effect.callback<number, Unreachable>((resume) => {
    const call = url.protocol === "http:" ? Http.request : Http.secureRequest
    const sent = call(
      url,
      {
        method,
        agent: false,
        headers: { "user-agent": "Catenet", ...headers, "content-length": Buffer.byteLength(body) },
        // Answers with the checked address for every name, so that nothing is resolved again.
        lookup: (_name, options, answer) =>
          options.all === true ? answer(null, [to]) : answer(null, to.address, to.family)
      },
      (response) => {
        resume(Effect.succeed(response.statusCode ?? 0))
        response.destroy()
      }
    )
    sent.on("error", () => resume(Effect.fail(new Unreachable())))
    sent.end(body)
    return Effect.sync(() => void sent.destroy())
  })

/** Sends a message once; gives the status of the answer. `mayCall` decides about each address of the host. */
export const send = Effect.fnUntraced(function* (url: URL, message: Message, mayCall: (address: string) => boolean) {
  return yield* request(url, yield* checked(url, mayCall), message)
})
