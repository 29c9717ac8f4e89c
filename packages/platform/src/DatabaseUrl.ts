/**
 * Several PostgreSQL servers in one URL, as libpq writes them (PostgreSQL's documentation, "Specifying Multiple Hosts"):
 * `postgres://user:password@one:5432,two:5432/name`. `URL` knows one host only.
 */
const parts = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/su

/** A URL for each server, in their order. What is no URL, or names one server, is returned as it is. */
export const servers = (url: string): ReadonlyArray<string> => {
  const [, before = "", hosts = "", after = ""] = parts.exec(url) ?? []
  return hosts.includes(",") ? hosts.split(",").map((host) => `${before}${host}${after}`) : [url]
}

/** The first server's URL, changed by `edit`, with all servers in it again. */
export const edited = (url: string, edit: (first: URL) => void): string => {
  const [, , hosts = ""] = parts.exec(url) ?? []
  const [first = url] = servers(url)
  const changed = new URL(first)
  edit(changed)
  return hosts.includes(",")
    ? changed.href.replace(parts, (_, before, __, after) => `${before}${hosts}${after}`)
    : changed.href
}
