/**
 * Reads a JSON body where a handler has to decide something before it looks at it. What cannot be read fails as the
 * framework's own reading does, and is refused by the same middleware.
 */
import { UnsupportedMediaType } from "@catenet/domain/errors/Requests"
import { Effect, Schema, SchemaIssue } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"

const isJson = (contentType: string | undefined) =>
  /^application\/json\s*(?:;|$)/i.test(contentType ?? "application/json")

const parse = (text: string) =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    catch: () => new Schema.SchemaError(new SchemaIssue.InvalidValue({ message: "Expected a valid JSON body" }))
  })

/** The body, decoded. */
export const read = <A, I>(request: HttpServerRequest.HttpServerRequest, schema: Schema.Codec<A, I>) =>
  Effect.gen(function* () {
    if (!isJson(request.headers["content-type"]))
      return yield* new UnsupportedMediaType({ expected: "application/json" })
    const text = yield* Effect.orDie(request.text)
    const decoded = Effect.flatMap(parse(text), Schema.decodeUnknownEffect(schema, { errors: "all" }))
    return yield* Effect.catchTag(
      HttpApiError.HttpApiSchemaError.wrap("Payload", decoded),
      "HttpApiSchemaError",
      Effect.die
    )
  })
