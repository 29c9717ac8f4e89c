/** Downloads from an https address with limits on size and time. No redirects. */
import { maxManifestLocation } from "@catenet/domain/values/Quotas"
import { AnswerTooLong } from "@catenet/platform/OutgoingHttp"
import { Data, Effect } from "effect"
import { sendForUpTo } from "../../onboard/OutgoingHttp.ts"

/** The address; undefined if it has another scheme or contains credentials. */
export const addressOf = (text: string): URL | undefined => {
  if (text.length > maxManifestLocation || !URL.canParse(text)) return undefined
  const url = new URL(text)
  return url.protocol === "https:" && url.username + url.password === "" ? url : undefined
}

/** `why` is the end of a sentence about the downloaded file. */
export class NotFetched extends Data.TaggedError("NotFetched")<{ readonly why: string }> {}

export interface Bounds {
  readonly bytes: number
  readonly seconds: number
}

const describe = (error: unknown) => {
  if (error instanceof AnswerTooLong) return error.message
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? `does not come: ${cause.message}` : "does not come"
}

export const fetchBytes = Effect.fn("SecureDownload.fetchBytes")(function* (url: URL, { bytes, seconds }: Bounds) {
  const send = yield* sendForUpTo(bytes)
  return yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await send(url, { signal })
      return response.ok
        ? { bytes: new Uint8Array(await response.arrayBuffer()), status: undefined }
        : { bytes: new Uint8Array(), status: response.status }
    },
    catch: (error) => new NotFetched({ why: describe(error) })
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${seconds} seconds`,
      orElse: () => Effect.fail(new NotFetched({ why: `does not come within ${seconds} seconds` }))
    }),
    Effect.filterOrFail(
      ({ status }) => status === undefined,
      ({ status }) => new NotFetched({ why: `is answered with ${status}, and no redirect is followed` })
    ),
    Effect.map((fetched) => fetched.bytes)
  )
})
