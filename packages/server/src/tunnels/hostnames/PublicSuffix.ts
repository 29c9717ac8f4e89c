/** The public suffix list: names below which different people register theirs, such as `com`, `co.uk` and `github.io`. */
import { parse } from "tldts"

const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }

/**
 * Whether a host name is a public suffix. By the rule of the list a last label that it does not know is one as well;
 * networks with names of their own have such, so `listed` asks only for what the list names.
 */
export const isPublicSuffix = (hostname: string, which: "listed" | "any"): boolean => {
  const { isIcann, isPrivate, publicSuffix } = parse(hostname, options)
  return publicSuffix === hostname && (which === "any" || isIcann === true || isPrivate === true)
}
