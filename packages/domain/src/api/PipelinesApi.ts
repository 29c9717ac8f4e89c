/** The pipeline registry: published by accounts and operators, read by anyone. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  NotPipelineOwner,
  PipelineIdTaken,
  PipelineNotFound,
  RoleTagRepeated,
  RoleWithoutUnits
} from "../errors/Pipelines.ts"
import { PipelineId, PipelineSpec, PublishedPipeline } from "../Pipeline.ts"
import { Subject } from "../Subject.ts"
import { AdminAccess, BearerAccess, Metered } from "./Access.ts"
import { lossless } from "./LosslessJson.ts"
import { pageQuery } from "./Page.ts"
import { ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** Publishing replaces what the same owner published under the id. */
export class PipelinePublication extends Schema.Class<PipelinePublication>("PipelinePublication")({
  spec: PipelineSpec
}) {}

/** An operator may publish for another owner. */
export class OperatorPublication extends Schema.Class<OperatorPublication>("OperatorPublication")({
  owner: Subject.pipe(Schema.withDecodingDefaultKey(Effect.succeed("operator"))),
  spec: PipelineSpec
}) {}

const done = HttpApiSchema.Empty(200)
const invalid = [RoleTagRepeated, RoleWithoutUnits] as const

export class PipelinesApi extends HttpApiGroup.make("pipelines")
  .add(
    HttpApiEndpoint.post("publish", "/me/pipelines", {
      payload: lossless(PipelinePublication),
      success: done,
      error: [...invalid, NotPipelineOwner]
    })
      .middleware(ReadsBody)
      .middleware(Metered)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("listOwn", "/me/pipelines", { query: pageQuery, success: Schema.Array(PublishedPipeline) })
      .middleware(ReadsParameters)
      .middleware(Metered)
      .middleware(BearerAccess),
    HttpApiEndpoint.delete("withdraw", "/me/pipelines/:id", {
      params: { id: PipelineId },
      success: done,
      error: [NotPipelineOwner, PipelineNotFound]
    })
      .middleware(ReadsParameters)
      .middleware(Metered)
      .middleware(BearerAccess),
    HttpApiEndpoint.post("publishFor", "/registry/pipelines", {
      payload: lossless(OperatorPublication),
      success: done,
      error: [...invalid, PipelineIdTaken]
    })
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
  .middleware(Metered) {}
