/**
 * HTTP to a configured service. It follows no redirect, because the secret in a request would go along, and reads no more of an
 * answer than it was given room for. The caller passes the `fetch` that it uses. To addresses that others have chosen: `PublicHttp`.
 */
import { type Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { readBounded } from "./BoundedRead.ts"

export type Fetch = typeof globalThis.fetch

/** The answer is longer than what was asked for can be. */
export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong"
  constructor(most: number) {
    super(`the answer is longer than ${most} bytes`)
  }
}

const read = async (body: NonNullable<Response["body"]>, most: number) => {
  const whole = await readBounded(body, most)
  if (whole === undefined) throw new AnswerTooLong(most)
  return whole
}

/**
 * An answer with a redirect status comes back as it is. Answers come whole, with at most `most` bytes after decompression; a
 * longer one fails with {@link AnswerTooLong}.
 *
 * ```ts
 * import assert from "node:assert/strict"
 * import { AnswerTooLong, strictFetch } from "@catenet/platform/OutgoingHttp"
 *
 * const six = () => Promise.resolve(new Response("twelve"))
 * assert.equal(await (await strictFetch(six, 6)("https://issuer.example/")).text(), "twelve")
 * await assert.rejects(strictFetch(six, 5)("https://issuer.example/"), AnswerTooLong)
 * ```
 */
export const strictFetch =
  (fetch: Fetch, most: number): Fetch =>
  async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" })
    const body = response.body === null ? null : await read(response.body, most)
    return new Response(body, response)
  }

/** The `HttpClient` that sends by this `fetch`. */
export const clientBy = (fetch: Effect.Effect<Fetch>) =>
  FetchHttpClient.layer.pipe(Layer.provide(Layer.effect(FetchHttpClient.Fetch, fetch)))
