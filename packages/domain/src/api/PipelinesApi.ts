/** The pipeline registry: published by accounts and operators, read by anyone. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { PipelineId, PipelineSpec, PublishedPipeline } from "../agents/Pipeline.ts"
import {
  NotPipelineOwner,
  PipelineIdTaken,
  PipelineNotFound,
  RoleTagRepeated,
  RoleWithoutUnits
} from "../agents/PipelineErrors.ts"
import { malformedText } from "../values/Pattern.ts"
import { LimitReached } from "../values/RequestErrors.ts"
import { isSmallEd25519 } from "../values/SmallOrder.ts"
import { Subject } from "../values/Subject.ts"
import { AdminAccess, BearerAccess, RateLimit } from "./Access.ts"
import { lossless } from "./LosslessJson.ts"
import { pageQuery } from "./Page.ts"
import { BodyLimit, ReadsBody, ReadsParameters, maxListBytes } from "./RequestReading.ts"

/** A specification that is stored already keeps the key that it has. */
const namesGoodOperator = Schema.makeFilter(
  ({ spec: { operator_pubkey_hex: key } }: { readonly spec: PipelineSpec }) =>
    key !== null && isSmallEd25519(key)
      ? { path: ["spec", "operator_pubkey_hex"], issue: "Expected an Ed25519 key that is not of small order" }
      : undefined,
  { [malformedText]: true }
)

/** Publishing replaces what the same owner published under the id. */
export class PipelinePublication extends Schema.Class<PipelinePublication>("PipelinePublication")(
  Schema.Struct({ spec: PipelineSpec }).check(namesGoodOperator)
) {}

/** An operator may publish for another owner. */
export class OperatorPublication extends Schema.Class<OperatorPublication>("OperatorPublication")(
  Schema.Struct({
    owner: Subject.pipe(Schema.withDecodingDefaultKey(Effect.succeed("operator"))),
    spec: PipelineSpec
  }).check(namesGoodOperator)
) {}

const done = HttpApiSchema.Empty(200)
const invalid = [RoleTagRepeated, RoleWithoutUnits] as const

export class PipelinesApi extends HttpApiGroup.make("pipelines")
  .add(
    HttpApiEndpoint.post("publish", "/me/pipelines", {
      payload: lossless(PipelinePublication),
      success: done,
      error: [...invalid, NotPipelineOwner, LimitReached]
    })
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("listOwn", "/me/pipelines", { query: pageQuery, success: Schema.Array(PublishedPipeline) })
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.delete("withdraw", "/me/pipelines/:id", {
      params: { id: PipelineId },
      success: done,
      error: [NotPipelineOwner, PipelineNotFound]
    })
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.post("publishFor", "/registry/pipelines", {
      payload: lossless(OperatorPublication),
      success: done,
      error: [...invalid, PipelineIdTaken, LimitReached]
    })
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.get("list", "/registry/pipelines", {
      query: pageQuery,
      success: Schema.Array(PublishedPipeline)
    }).middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/registry/pipelines/:id", {
      params: { id: PipelineId },
      success: lossless(PipelineSpec),
      error: PipelineNotFound
    }).middleware(ReadsParameters)
  )
  .middleware(RateLimit) {}
