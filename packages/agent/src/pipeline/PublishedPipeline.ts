/** Reads a published pipeline, or its operator's key, from the control plane. */
import * as Hex from "@catenet/crypto/Hex"
import { PipelineSpec } from "@catenet/domain/agents/Pipeline"
import { lossless } from "@catenet/domain/api/LosslessJson"
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect, Option, Result, Schema } from "effect"
import { HttpClient } from "effect/http"
import { Refused, Unreachable } from "../Failure.ts"
import { describe } from "../onboard/HttpErrors.ts"

const bound = "10 seconds"
const Named = Schema.fromJsonString(
  Schema.Struct({ operator_pubkey_hex: Schema.optionalKey(Schema.NullOr(Schema.String)) })
)

/** The published pipeline, as far as the command needs it. */
const ask = Effect.fnUntraced(function* <A>(
  controlPlane: string,
  pipeline: string,
  decode: (text: string) => Option.Option<A>,
  remedy: string
) {
  const client = yield* HttpClient.HttpClient
  const away = (why: string) =>
    new Unreachable({
      detail: `The control plane at ${controlPlane} cannot be asked for the pipeline: ${clause(why)}. ${remedy}`
    })
  const { status, text } = yield* Effect.gen(function* () {
    const response = yield* client.get(`${controlPlane}/registry/pipelines/${encodeURIComponent(pipeline)}`)
    return { status: response.status, text: yield* response.text }
  }).pipe(
    Effect.mapError((error) => away(describe(error))),
    Effect.timeoutOrElse({ duration: bound, orElse: () => Effect.fail(away(`no answer within ${bound}`)) })
  )
  if (status === 404)
    return yield* new Refused({
      detail: `No pipeline ${pipeline} is published at ${controlPlane}. Correct CT_PIPELINE_ID.`
    })
  const published = status === 200 ? Option.getOrUndefined(decode(text)) : undefined
  return published ?? (yield* away(`it answered ${status}, and that cannot be used`))
})

/** The key of its operator, which not every pipeline names. */
const keyOf = (pipeline: string, hex: string | null | undefined) => {
  const key = Hex.decode(hex ?? "", 32)
  return Result.isSuccess(key)
    ? Effect.succeed(key.success)
    : Effect.fail(
        new Refused({
          detail: `The pipeline ${pipeline} names no operator key. Ask its owner for it, and set CT_CHANNEL_OPERATOR_PUBKEY.`
        })
      )
}

const decodeNamed = Schema.decodeUnknownOption(Named)

/** The public key of its operator. */
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
  const remedy = "Set CT_CHANNEL_OPERATOR_PUBKEY, or try again."
  const { operator_pubkey_hex: hex } = yield* ask(controlPlane, pipeline, decodeNamed, remedy)
  return yield* keyOf(pipeline, hex)
})

const decodeSpec = Schema.decodeUnknownOption(lossless(PipelineSpec))

/** The whole pipeline with its operator's public key: the given one, or the one that it names. */
export const read = Effect.fn("PublishedPipeline.read")(function* (
  controlPlane: string,
  pipeline: string,
  given: Uint8Array | undefined
) {
  const spec = yield* ask(controlPlane, pipeline, decodeSpec, "Check CT_AGENT_CP_URL, or try again.")
  return { spec, operator: given ?? (yield* keyOf(pipeline, spec.operator_pubkey_hex)) }
})
