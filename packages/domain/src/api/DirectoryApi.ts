/** The public agent directory, and the rendezvous records of an operator's self-test. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import {
  DirectoryEntry,
  DirectoryRegistration,
  DirectoryToken,
  OwnDirectoryEntry,
  ProvedRegistration
} from "../agents/Directory.ts"
import { AgentNotListed, DirectoryProofRefused } from "../agents/PipelineErrors.ts"
import { AgentId, Tenant } from "../enrollment/AgentStatus.ts"
import { HolderKey } from "../values/Keys.ts"
import { LimitReached, RouteNotFound } from "../values/RequestErrors.ts"
import { RoutingToken } from "../values/Tokens.ts"
import { AdminAccess, BearerAccess, RateLimit } from "./Access.ts"
import { pageQuery } from "./Page.ts"
import { BodyLimit, ReadsBody, ReadsParameters, maxListBytes } from "./RequestReading.ts"

const done = HttpApiSchema.Empty(200)

export class DirectoryApi extends HttpApiGroup.make("directory")
  .add(
    HttpApiEndpoint.post("register", "/registry/agents", { payload: DirectoryRegistration, success: done })
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.post("enlist", "/me/agents-directory", {
      payload: ProvedRegistration,
      success: done,
      error: [DirectoryProofRefused, LimitReached]
    })
      .annotate(BodyLimit, maxListBytes)
      .middleware(ReadsBody)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.get("listOwn", "/me/agents-directory", {
      query: pageQuery,
      success: Schema.Array(OwnDirectoryEntry)
    })
      .middleware(ReadsParameters)
      .middleware(RateLimit)
      .middleware(BearerAccess),
    HttpApiEndpoint.delete("unlist", "/me/agents-directory/:holder", {
      params: { holder: HolderKey },
      success: done,
      error: AgentNotListed
    })
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
    }).middleware(ReadsParameters),
    HttpApiEndpoint.get("get", "/registry/agents/:holder", {
      params: { holder: HolderKey },
      success: DirectoryEntry,
      error: AgentNotListed
    }).middleware(ReadsParameters),
    HttpApiEndpoint.post("registerRendezvous", "/registry/register", {
      payload: Schema.Struct({ token: RoutingToken, tenant: Tenant, agent: AgentId }),
      success: done
    })
      .middleware(ReadsBody)
      .middleware(AdminAccess),
    HttpApiEndpoint.get("resolveRendezvous", "/registry/resolve/:token", {
      params: { token: RoutingToken },
      success: Schema.Struct({ tenant: Tenant, agent: AgentId }),
      error: RouteNotFound
    }).middleware(ReadsParameters)
  )
  .middleware(RateLimit) {}
