/**
 * The body of a form as browsers send it: fields by name, of those with the same name the first. Fields are counted before
 * they are read: hundreds of thousands of empty ones take seconds.
 */
import { maxBodyBytes, maxListBytes } from "@catenet/domain/api/RequestReading"
import { BodyTooLarge, UnsupportedMediaType, WrongShape } from "@catenet/domain/values/RequestErrors"
import { ByteSize, Effect } from "effect"
import { HttpServerRequest } from "effect/http"

const mediaType = "application/x-www-form-urlencoded"

export type Fields = Readonly<Record<string, string | undefined>>

/** The longest form has 33 fields; browsers and extensions may add some. */
const maxFields = 128

type Read = Effect.Effect<Fields, BodyTooLarge | UnsupportedMediaType | WrongShape, HttpServerRequest.HttpServerRequest>

const fieldsWithin = (limit: number): Read =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const type = request.headers["content-type"]
    if (type === undefined && (request.headers["content-length"] ?? "0") === "0") return {}
    if (type?.replace(/;.*$/su, "").trim().toLowerCase() !== mediaType) {
      return yield* new UnsupportedMediaType({ expected: mediaType })
    }
    const text = yield* request.text.pipe(
      Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.fromInputUnsafe(limit)),
      Effect.mapError(() => new BodyTooLarge({ limit_bytes: limit }))
    )
    if (text.split("&", maxFields + 1).length > maxFields)
      return yield* new WrongShape({ errors: [{ path: [], message: `Expected at most ${maxFields} fields` }] })
    return Object.fromEntries([...new URLSearchParams(text)].toReversed())
  })

/** Of a form that anybody may send. No body at all is a form without fields. */
export const fields: Read = fieldsWithin(maxBodyBytes)

/** Of a form of a person who is signed in, which may hold lists and long texts. */
export const memberFields: Read = fieldsWithin(maxListBytes)
