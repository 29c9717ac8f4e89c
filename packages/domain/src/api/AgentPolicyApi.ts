/**
 * What an agent that ends the TLS of its tunnel's visitors asks, to enforce what the owner demands of them. Every call carries the
 * proof of an enrolled key (`@catenet/crypto/AgentRequest`), and is about hosts of that tunnel only.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentProofRequired, NotHostnameOwner } from "../certificates/AdmissionErrors.ts"
import { CallerRefused, GateCodeRefused } from "../tunnels/GateErrors.ts"
import { BrowserHash, GateAnswer, GateCaller, GateEntry } from "../tunnels/GateVisit.ts"
import { TunnelPolicy } from "../tunnels/TunnelPolicy.ts"
import { Hex64 } from "../values/Hex.ts"
import { Hostname } from "../values/Hostname.ts"
import { pattern } from "../values/Pattern.ts"
import { AccessTokenText, GateToken, RoutingToken } from "../values/Tokens.ts"
import { RateLimit } from "./Access.ts"
import { ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** What the calling agent enforces, such as `gate,windows`. */
const Enforces = Schema.String.check(
  Schema.isMaxLength(200),
  pattern(/^[a-z0-9_]+(?:,[a-z0-9_]+)*$/u, "names joined by commas")
)

/** The address of a host, for which access tokens are made (RFC 8707). */
const Resource = Schema.String.check(
  Schema.isMaxLength(300),
  pattern(/^https:\/\/[a-z0-9.-]{1,253}(?::[0-9]{1,5})?\/$/u, "the https address of a host")
)

const tokenHeader = { "x-ct-routing-token": RoutingToken }

/** `id` is the SHA-256 of the session's token, which stays with the visitor and the agent. */
const session = { params: { id: Hex64 }, headers: tokenHeader, query: { host: Hostname } }

export class AgentPolicyApi extends HttpApiGroup.make("agentPolicy")
  .annotate(OpenApi.Description, "Policy of a tunnel")
  .add(
    HttpApiEndpoint.get("policy", "/agent/policy", {
      headers: { ...tokenHeader, "if-none-match": Schema.optionalKey(Schema.String) },
      query: { enforces: Schema.optionalKey(Enforces) },
      success: [TunnelPolicy, HttpApiSchema.Empty(304)],
      error: AgentProofRequired
    })
      .annotate(OpenApi.Summary, "Returns what the owner of the tunnel demands of its visitors.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.post("redeem", "/agent/gate/redeem", {
      payload: Schema.Struct({ token: RoutingToken, host: Hostname, code: GateToken, browser: BrowserHash }),
      success: GateEntry,
      error: [AgentProofRequired, GateCodeRefused, NotHostnameOwner]
    })
      .annotate(OpenApi.Summary, "Exchanges the code of a sign-in for a visitor session at a host of the tunnel, once.")
      .middleware(ReadsBody),
    HttpApiEndpoint.post("caller", "/agent/gate/callers", {
      payload: Schema.Struct({ token: RoutingToken, host: Hostname, resource: Resource, bearer: AccessTokenText }),
      success: GateCaller,
      error: [AgentProofRequired, CallerRefused, NotHostnameOwner]
    })
      .annotate(
        OpenApi.Summary,
        "Returns whose an access token is that is made for a host of the tunnel, if the account may visit it."
      )
      .middleware(ReadsBody),
    HttpApiEndpoint.get("session", "/agent/gate/sessions/:id", {
      ...session,
      success: GateAnswer,
      error: [AgentProofRequired, NotHostnameOwner]
    })
      .annotate(OpenApi.Summary, "Returns whose a session at a host of the tunnel is.")
      .middleware(ReadsParameters),
    HttpApiEndpoint.delete("endSession", "/agent/gate/sessions/:id", {
      ...session,
      success: HttpApiSchema.Empty(200),
      error: [AgentProofRequired, NotHostnameOwner]
    })
      .annotate(OpenApi.Summary, "Ends a visitor's session.")
      .middleware(ReadsParameters)
  )
  .middleware(RateLimit) {}
