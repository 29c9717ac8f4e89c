/** What limits for each address count by: an IPv4 address, or the /64 that one customer has of IPv6. */
import { isIPv6 } from "node:net"

/** Groups of a written IPv6 address; those that `::` stands for are filled in. */
const groupsOf = (address: string): ReadonlyArray<string> => {
  const [head = "", tail] = address.split("::")
  const before = head === "" ? [] : head.split(":")
  if (tail === undefined) return before
  const after = tail === "" ? [] : tail.split(":")
  // The last 32 bits may be written as an IPv4 address.
  const written = before.length + after.length + (after.at(-1)?.includes(".") === true ? 1 : 0)
  return [...before, ...Array.from({ length: 8 - written }, () => "0"), ...after]
}

/** The address as the system writes it; one that is unknown stands for itself. */
export const addressBlock = (address: string): string => {
  const [plain = ""] = address.split("%")
  if (!isIPv6(plain)) return address
  if (plain.startsWith("::ffff:") && plain.includes(".")) return plain.slice("::ffff:".length)
  const block = groupsOf(plain.toLowerCase()).slice(0, 4)
  return `${block.map((group) => group.replace(/^0+(?=.)/, "")).join(":")}::/64`
}
