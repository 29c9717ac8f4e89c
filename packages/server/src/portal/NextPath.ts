/** Where somebody goes after signing in: a page of the portal and nowhere else. */

export const home = "/portal/home"

/**
 * A path of the portal of at most 512 characters without backslashes and control characters; anything else is the home
 * page. Read as a browser would: what leads out of the portal by its dots is anything else too.
 */
export const nextPath = (text: string | null | undefined): string => {
  if (text === null || text === undefined || text.length > 512 || !/^\/portal(?:[/?#]|$)/u.test(text)) return home
  if (/[\\\p{Cc}\p{Cs}]/u.test(text) || !URL.canParse(text, "https://portal.invalid")) return home
  const { hash, pathname, search } = new URL(text, "https://portal.invalid")
  return /^\/portal(?:\/|$)/u.test(pathname) ? `${pathname}${search}${hash}` : home
}
