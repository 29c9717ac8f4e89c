/** The operator of a published pipeline, which anyone may read at the control plane. */
import { ConfigurationInvalid } from "@catenet/config/ConfigurationInvalid"
import * as Hex from "@catenet/crypto/Hex"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, Option, Result, Schema } from "effect"
import { HttpClient } from "effect/http"
import { Refused, Unreachable } from "../Failure.ts"
import { words } from "../onboard/HttpWords.ts"

const bound = "10 seconds"
const Named = Schema.fromJsonString(
  Schema.Struct({ operator_pubkey_hex: Schema.optionalKey(Schema.NullOr(Schema.String)) })
)
const decode = Schema.decodeUnknownOption(Named)

/** Its public key. */
export const operatorOf = Effect.fn("PublishedPipeline.operatorOf")(function* (
  controlPlane: string | undefined,
  pipeline: string
) {
  if (controlPlane === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_OPERATOR_PUBKEY",
      "is not set",
      "set it, or CT_AGENT_CP_URL to have the operator of a published pipeline read there"
    )
  const client = yield* HttpClient.HttpClient
  const away = (why: string) =>
    new Unreachable({
      detail: `The control plane at ${controlPlane} cannot be asked for the pipeline: ${clause(why)}. Set CT_CHANNEL_OPERATOR_PUBKEY, or try again.`
    })
  const { status, text } = yield* Effect.gen(function* () {
    const response = yield* client.get(`${controlPlane}/registry/pipelines/${encodeURIComponent(pipeline)}`)
    return { status: response.status, text: yield* response.text }
  }).pipe(
    Effect.mapError((error) => away(words(error))),
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(away(`no answer within ${bound}`)) })
  )
  if (status === 404)
    return yield* new Refused({
      detail: `No pipeline ${pipeline} is published at ${controlPlane}. Correct CT_PIPELINE_ID.`
    })
  const published = status === 200 ? Option.getOrUndefined(decode(text)) : undefined
  if (published === undefined) return yield* away(`it answered ${status}, and that cannot be used`)
  const key = Hex.decode(published.operator_pubkey_hex ?? "", 32)
  if (Result.isFailure(key))
    return yield* new Refused({
      detail: `The pipeline ${pipeline} names no operator key. Ask its owner for it, and set CT_CHANNEL_OPERATOR_PUBKEY.`
    })
  return key.success
})
