/** The cookies of the login gate. No origin sees one, since a browser that has it is let in as its visitor. */

/** What the visitor's session at a host is kept in. */
export const sessionCookie = "__Host-ct_gate_session"
/** What the browser keeps that began to sign in at a host. */
export const browserCookie = "__Host-ct_gate_browser"
/** The name of a session's cookie where a proxy beside the origin asks for it. */
const contractCookie = "ct_gate_session"

const cookies: ReadonlySet<string> = new Set([sessionCookie, browserCookie, contractCookie])

const pairsOf = (cookie: string) => cookie.split(";").map((pair) => pair.trim())
const nameOf = (pair: string) => pair.split("=", 1)[0]?.trim() ?? ""

/** A Cookie field without the gate's own; absent when none is left. The field is kept as it is where it has none of them. */
export const originCookies = (cookie: string): string | undefined => {
  const pairs = pairsOf(cookie)
  const kept = pairs.filter((pair) => !cookies.has(nameOf(pair)))
  if (kept.length === pairs.length) return cookie
  return kept.length === 0 ? undefined : kept.join("; ")
}

/** The value of a cookie; the first, as a browser sends no second of a `__Host-` name. */
export const cookieOf = (cookie: string, name: string): string | undefined =>
  pairsOf(cookie)
    .find((pair) => nameOf(pair) === name)
    ?.slice(name.length + 1)
