/**
 * HTTP to a configured service. It follows no redirect, because the secret in a request would go along, and reads no more of an
 * answer than it was given room for. The caller passes the `fetch` that it uses. To addresses that others have chosen: `PublicHttp`.
 */
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"

export type Fetch = typeof globalThis.fetch

/** The answer is longer than what was asked for can be. */
export class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong"
  constructor(most: number) {
    super(`the answer is longer than ${most} bytes`)
  }
}

const read = async (body: NonNullable<Response["body"]>, most: number) => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  // Leaving the loop early cancels the body, and with it the connection.
  for await (const chunk of body) {
    length += chunk.length
    if (length > most) throw new AnswerTooLong(most)
    chunks.push(chunk)
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
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
