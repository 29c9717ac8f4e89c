/** The one spelling in which a host name is bound, looked up and sent (data-plane 1.2). */

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Trimmed, without trailing dots, lower case, at most 253 characters in labels of 1..63 letters, digits and inner
 * hyphens; `undefined` for anything that has no such form and so can neither be bound nor routed.
 */
export const normalHost = (text: string): string | undefined => {
  if (text.length > 512) return undefined
  const name = text.trim().replace(/\.+$/, "").toLowerCase()
  if (name.length === 0 || name.length > 253) return undefined
  return name.split(".").every((part) => label.test(part)) ? name : undefined
}

/** The same for what an agent may serve: also `*.` before a name of two labels or more, for every name one label below it. */
export const normalServedHost = (text: string): string | undefined => {
  const [, below] = /^\s*\*\.(.+)$/s.exec(text) ?? []
  if (below === undefined) return normalHost(text)
  const base = normalHost(below)
  return base?.includes(".") === true && base.length < 252 ? `*.${base}` : undefined
}

/** What stands for a host beside its own name, if anything does. */
export const wildcardOf = (host: string): string => `*${host.slice(Math.max(host.indexOf("."), 0))}`
