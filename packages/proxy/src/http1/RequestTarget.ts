/** What a request asks for: its target in each form of RFC 9112 section 3.2, and the authority it belongs to. */

export interface Target {
  /** In origin-form, or `*`. */
  readonly path: string
  /** Of an absolute target only: it replaces the Host field (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined
}

/** Nothing but visible ASCII, and no fragment: parsers differ about the rest. */
const visiblePattern = /^[\x21\x22\x24-\x7e]+$/
const absolutePattern = /^https?:\/\/([^/?]*)(.*)$/i

/** A host name with an optional port. User information is no part of it. */
const authorityPattern = /^[a-z0-9.-]+(?::\d{0,5})?$/i

export const isAuthority = (text: string): boolean => authorityPattern.test(text)

/** The host name of an authority without its port, as comparable with a server name. */
export const hostnameOf = (authority: string): string =>
  authority
    .replace(/:\d{0,5}$/, "")
    .replace(/\.$/, "")
    .toLowerCase()

/** A path and query as they may stand in a request line. */
export const isOriginForm = (path: string): boolean => path.startsWith("/") && visiblePattern.test(path)

const absolute = (method: string, text: string): Target | undefined => {
  const [, authority = "", rest = ""] = absolutePattern.exec(text) ?? []
  if (!isAuthority(authority)) return undefined
  if (rest === "" && method === "OPTIONS") return { path: "*", authority }
  return { path: rest.startsWith("/") ? rest : `/${rest}`, authority }
}

/** Nothing for what is no target of this method. */
export const parseTarget = (method: string, text: string): Target | undefined => {
  if (!visiblePattern.test(text)) return undefined
  if (text.startsWith("/")) return { path: text, authority: undefined }
  if (text === "*") return method === "OPTIONS" ? { path: "*", authority: undefined } : undefined
  return absolute(method, text)
}
