/**
 * Cursor pagination, optional on every list: without `limit` a list is complete. The idempotency key of creating
 * requests is here too.
 *
 * A cursor is opaque. If there is a next page, the response has it in a `Link` header with `rel="next"` (RFC 8288), so
 * the body of a page has the form of the whole list.
 */
import { Schema } from "effect"
import { countFromText } from "../values/Numbers.ts"
import { line } from "../values/Text.ts"

// The `Idempotency-Key` header of creating POSTs: a repeated request is answered as the first one was.

/** Scoped to the caller. Where the body has an `idempotency_key` too, the body's wins. */
export const idempotencyHeader = { "idempotency-key": Schema.optionalKey(line(255)) }

/** Longest page. */
export const maxPage = 1000

/** The two query parameters of a list. */
export const pageQuery = {
  limit: Schema.optionalKey(countFromText(1, maxPage)),
  cursor: Schema.optionalKey(line(512))
}

/**
 * The `Link` header of a page that has a next one. What else the query asked for stays in it.
 *
 * @example
 * ```ts
 * import { nextLink } from "@catenet/domain/api/Page"
 *
 * const link = nextLink("/registry/agents?role=a+b&limit=2", { limit: 2, cursor: "c d" })
 * if (link !== `</registry/agents?role=a+b&limit=2&cursor=c+d>; rel="next"`) throw new Error(link)
 * ```
 */
export const nextLink = (
  url: string,
  { cursor, limit }: { readonly limit: number; readonly cursor: string }
): string => {
  const [path = "", query = ""] = url.split(/[?#]/u)
  const asked = new URLSearchParams(query)
  asked.set("limit", String(limit))
  asked.set("cursor", cursor)
  return `<${path}?${asked.toString()}>; rel="next"`
}

/**
 * The cursor of the next page, from the `Link` header of a page; nothing when that was the last.
 *
 * @example
 * ```ts
 * import { cursorIn, nextLink } from "@catenet/domain/api/Page"
 *
 * const cursor = cursorIn(nextLink("/registry/agents", { limit: 2, cursor: "c d" }))
 * if (cursor !== "c d") throw new Error(cursor)
 * ```
 */
export const cursorIn = (link: string | undefined): string | undefined => {
  const query = /<[^>?]*\?([^>]*)>; *rel="next"/u.exec(link ?? "")?.[1]
  return new URLSearchParams(query).get("cursor") ?? undefined
}
