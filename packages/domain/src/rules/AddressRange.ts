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
