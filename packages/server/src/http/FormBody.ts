/** The body of a form as browsers send it: fields by name, of those with the same name the first. */
import { maxBodyBytes } from "@catenet/domain/api/RequestReading"
import { BodyTooLarge, UnsupportedMediaType } from "@catenet/domain/values/RequestErrors"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"

const mediaType = "application/x-www-form-urlencoded"

export type Fields = Readonly<Record<string, string | undefined>>

/** No body at all is a form without fields. */
export const fields: Effect.Effect<Fields, BodyTooLarge | UnsupportedMediaType, HttpServerRequest.HttpServerRequest> =
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const type = request.headers["content-type"]
    if (type === undefined && (request.headers["content-length"] ?? "0") === "0") return {}
    if (type?.replace(/;.*$/su, "").trim().toLowerCase() !== mediaType) {
      return yield* new UnsupportedMediaType({ expected: mediaType })
    }
    const text = yield* Effect.mapError(request.text, () => new BodyTooLarge({ limit_bytes: maxBodyBytes }))
    return Object.fromEntries([...new URLSearchParams(text)].toReversed())
  })
