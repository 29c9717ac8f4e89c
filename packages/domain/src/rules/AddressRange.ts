/** Ranges of IP addresses, as access rules list them: `10.0.0.0/8`, `2001:db8::/32`, or one address. */
import { Result, Schema } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { patternBy } from "../values/Pattern.ts"

type Network = IpNetwork.IpNetwork

/** An IPv4 address in IPv6 is the IPv4 address inside. */
const addressOf = (text: string): NetAddress.IpAddress | undefined => {
  const parsed = NetAddress.ipFromString(text)
  return Result.isSuccess(parsed) ? NetAddress.toCanonical(parsed.success) : undefined
}

const networkOf = (text: string): Network | undefined => {
  if (!text.includes("/")) {
    const address = addressOf(text)
    return address === undefined
      ? undefined
      : IpNetwork.fromAddressUnsafe(address, NetAddress.isIpv4Address(address) ? 32 : 128)
  }
  const parsed = IpNetwork.fromString(text)
  return Result.isSuccess(parsed) ? parsed.success : undefined
}

const sample = /^(?:10\.[1-9][0-9]\.0\.0\/16|192\.0\.2\.[1-9][0-9]|2001:db8:[1-9]{4}::\/48)$/u

/** Bits beyond the prefix have to be zero: `10.0.0.1/8` is refused, because one of its two halves is not what was meant. */
export const AddressRange = Schema.String.check(
  patternBy(
    (text) => text.length <= 43 && networkOf(text) !== undefined,
    "an address range such as 10.0.0.0/8 or 2001:db8::/32 with zeros after its prefix, or one address",
    sample,
    { maxLength: 43 }
  )
).pipe(Schema.brand("AddressRange"))
export type AddressRange = typeof AddressRange.Type

/** Ranges are few and asked about with every request. */
const parsed = new WeakMap<ReadonlyArray<AddressRange>, ReadonlyArray<Network>>()

const networksOf = (ranges: ReadonlyArray<AddressRange>): ReadonlyArray<Network> => {
  const known = parsed.get(ranges)
  if (known !== undefined) return known
  const networks = ranges.flatMap((range) => networkOf(range) ?? [])
  parsed.set(ranges, networks)
  return networks
}

/**
 * Whether one of the ranges holds the address. Text that is no address is in none of them.
 *
 * @example
 * ```ts
 * import { AddressRange, isWithin } from "@catenet/domain/rules/AddressRange"
 *
 * const ranges = ["10.0.0.0/8", "2001:db8::/32"].map((range) => AddressRange.make(range))
 * if (!isWithin(ranges, "10.1.2.3") || !isWithin(ranges, "::ffff:10.1.2.3")) throw new Error("IPv4, also within IPv6")
 * if (isWithin(ranges, "11.0.0.1") || isWithin(ranges, "unknown")) throw new Error("nothing else")
 * ```
 */
export const isWithin = (ranges: ReadonlyArray<AddressRange>, address: string): boolean => {
  const ip = addressOf(address)
  return ip !== undefined && networksOf(ranges).some((network) => IpNetwork.contains(network, ip))
}

/**
 * The ranges that both lists hold.
 *
 * @example
 * ```ts
 * import { deepStrictEqual } from "node:assert"
 * import { AddressRange, intersection } from "@catenet/domain/rules/AddressRange"
 *
 * const ranges = (...texts: ReadonlyArray<string>) => texts.map((range) => AddressRange.make(range))
 * deepStrictEqual(intersection(ranges("10.0.0.0/8", "::1"), ranges("10.1.0.0/16", "192.0.2.1")), ["10.1.0.0/16"])
 * ```
 */
export const intersection = (
  a: ReadonlyArray<AddressRange>,
  b: ReadonlyArray<AddressRange>
): ReadonlyArray<AddressRange> => {
  const [inA, inB] = [networksOf(a), networksOf(b)]
  const within = (ranges: ReadonlyArray<AddressRange>, own: ReadonlyArray<Network>, others: ReadonlyArray<Network>) =>
    ranges.filter((_, at) => others.some((other) => own[at] !== undefined && IpNetwork.containsNetwork(other, own[at])))
  return [...new Set([...within(a, inA, inB), ...within(b, inB, inA)])]
}
