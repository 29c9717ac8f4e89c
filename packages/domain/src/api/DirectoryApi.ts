/** The pipeline registry, the public agent directory, and the rendezvous records of an operator's self-test. */
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  DirectoryEntry,
  DirectoryRegistration,
  DirectoryToken,
  OwnDirectoryEntry,
  ProvedRegistration
} from "../agents/Directory.ts"
import { PipelineId, PipelineSpec, PublishedPipeline } from "../agents/Pipeline.ts"
import {
  AgentNotListed,
  DirectoryProofRefused,
  NotPipelineOwner,
  PipelineIdTaken,
  PipelineNotFound,
  RoleTagRepeated,
  RoleWithoutUnits
} from "../agents/PipelineErrors.ts"
import { AgentId, Tenant } from "../enrollment/AgentStatus.ts"
import { Subject } from "../values/Ids.ts"
import { HolderKey, isSmallEd25519 } from "../values/Keys.ts"
import { malformedText } from "../values/Pattern.ts"
import { LimitReached, RouteNotFound } from "../values/RequestErrors.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AdminAccess, BearerAccess, RateLimit } from "./Access.ts"
import { lossless } from "./LosslessJson.ts"
import { pageQuery } from "./Page.ts"
import { BodyLimit, maxListBytes, ReadsBody, ReadsParameters } from "./RequestReading.ts"

// The pipeline registry: published by accounts and operators, read by anyone.

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
  .annotate(OpenApi.Description, "Pipelines")
  .add(
    HttpApiEndpoint.post("publish", "/me/pipelines", {
      payload: lossless(PipelinePublication),
      success: done,
      error: [...invalid, NotPipelineOwner, LimitReached]
    })
      .annotate(OpenApi.Summary, "Publishes a pipeline under an id, or replaces your own.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("listOwn", "/me/pipelines", { query: pageQuery, success: Schema.Array(PublishedPipeline) })
      .annotate(OpenApi.Summary, "Lists your pipelines.")
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.delete("withdraw", "/me/pipelines/:id", {
      params: { id: PipelineId },
      success: done,
      error: [NotPipelineOwner, PipelineNotFound]
    })
      .annotate(OpenApi.Summary, "Withdraws a pipeline.")
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.post("publishFor", "/registry/pipelines", {
      payload: lossless(OperatorPublication),
      success: done,
      error: [...invalid, PipelineIdTaken, LimitReached]
    })
      .annotate(OpenApi.Summary, "Publishes a pipeline on behalf of the operator or another owner.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.get("list", "/registry/pipelines", {
      query: pageQuery,
      success: Schema.Array(PublishedPipeline)
    })
      .annotate(OpenApi.Summary, "Lists every published pipeline with its owner.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/registry/pipelines/:id", {
      params: { id: PipelineId },
      success: lossless(PipelineSpec),
      error: PipelineNotFound
    })
      .annotate(OpenApi.Summary, "Returns a published pipeline.")
      .middleware(ReadsParameters)
  )
  .middleware(RateLimit) {}

export class DirectoryApi extends HttpApiGroup.make("directory")
  .annotate(OpenApi.Description, "Agent directory")
  .add(
    HttpApiEndpoint.post("register", "/registry/agents", { payload: DirectoryRegistration, success: done })
      .annotate(OpenApi.Summary, "Adds an agent with its card to the directory.")
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.post("enlist", "/me/agents-directory", {
      payload: ProvedRegistration,
      success: done,
      error: [DirectoryProofRefused, LimitReached]
    })
      .annotate(
        OpenApi.Summary,
        "Adds an agent for your account, with a proof by its holder key, until its card expires."
      )
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("listOwn", "/me/agents-directory", {
      query: pageQuery,
      success: Schema.Array(OwnDirectoryEntry)
    })
      .annotate(OpenApi.Summary, "Lists your agents in the directory.")
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.delete("unlist", "/me/agents-directory/:holder", {
      params: { holder: HolderKey },
      success: done,
      error: AgentNotListed
    })
      .annotate(OpenApi.Summary, "Removes one of your agents from the directory.")
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("search", "/registry/agents", {
      query: {
        role: Schema.optionalKey(DirectoryToken),
        skill: Schema.optionalKey(DirectoryToken),
        ...pageQuery
      },
      success: Schema.Array(DirectoryEntry)
    })
      .annotate(OpenApi.Summary, "Finds agents that have exactly this role, this skill, or both.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/registry/agents/:holder", {
      params: { holder: HolderKey },
      success: DirectoryEntry,
      error: AgentNotListed
    })
      .annotate(OpenApi.Summary, "Returns an agent of the directory.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("registerRendezvous", "/registry/register", {
      payload: Schema.Struct({ token: RoutingToken, tenant: Tenant, agent: AgentId }),
      success: done
    })
      .annotate(OpenApi.Summary, "Records which agent serves a routing token, for an operator's self-test.")
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.get("resolveRendezvous", "/registry/resolve/:token", {
      params: { token: RoutingToken },
      success: Schema.Struct({ tenant: Tenant, agent: AgentId }),
      error: RouteNotFound
    })
      .annotate(OpenApi.Summary, "Returns the agent that serves a routing token.")
      .middleware(ReadsParameters)
  )
  .middleware(RateLimit) {}
