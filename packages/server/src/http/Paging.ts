/**
 * Lists in pages. A cursor is the key of the last entry, made opaque; one that is not ours starts from the beginning.
 * Where there is more, the answer says so in its `Link` header.
 */
import * as Base64 from "@catenet/crypto/Base64"
import * as Bytes from "@catenet/crypto/Bytes"
import { nextLink } from "@catenet/domain/api/Page"
import { Effect, Option, Result, Schema } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"

/** The query of a list. */
export interface Page {
  readonly limit?: number
  readonly cursor?: string
}

/** What a store is asked for: so many entries after this key; everything when neither is given. */
export interface Slice<Key> {
  readonly limit: number | undefined
  readonly after: Key | undefined
}

const keyIn = <Key, I>(cursor: string, key: Schema.Codec<Key, I>): Key | undefined =>
  Option.getOrUndefined(
    Option.flatMap(
      Result.getSuccess(Result.flatMap(Base64.decodeUrl(cursor), Bytes.toText)),
      Schema.decodeOption(Schema.fromJsonString(key))
    )
  )

/** Reads a page by asking for one entry more than the page has. */
export const paged = <A, Key, I, E, R>(
  page: Page,
  key: Schema.Codec<Key, I>,
  read: (slice: Slice<Key>) => Effect.Effect<ReadonlyArray<A>, E, R>,
  keyOf: (entry: A) => Key
) =>
  Effect.gen(function* () {
    const { cursor, limit } = page
    const after = cursor === undefined ? undefined : keyIn(cursor, key)
    if (limit === undefined) return yield* read({ limit, after })
    const entries = yield* read({ limit: limit + 1, after })
    const shown = entries.slice(0, limit)
    const last = shown.at(-1)
    if (entries.length > limit && last !== undefined) {
      const text = Schema.encodeSync(Schema.fromJsonString(key))(keyOf(last))
      const next = Base64.encodeUrl(Bytes.fromText(text))
      const { url } = yield* HttpServerRequest.HttpServerRequest
      yield* HttpEffect.appendPreResponseHandler((_request, response) =>
        Effect.succeed(HttpServerResponse.setHeader(response, "link", nextLink(url, { limit, cursor: next })))
      )
    }
    return shown
  })

/** Reads a page of what belongs to `of`, sorted by one column of text. */
export const pagedOf = <A, E, R>(
  page: Page,
  of: string,
  read: (slice: Slice<string> & { readonly of: string }) => Effect.Effect<ReadonlyArray<A>, E, R>,
  keyOf: (entry: A) => string
) => paged(page, Schema.String, (slice) => read({ of, ...slice }), keyOf)
