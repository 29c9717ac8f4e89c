/** An agent's local observability routes. Open to all who reach the address; served only when one is configured. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AgentStatus } from "../enrollment/AgentStatus.ts"
import { describeApi, documentHead } from "./DescribedApi.ts"

/** Prometheus text format. */
const Exposition = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4" }))

/** `ok`, without a newline. */
const Healthy = Schema.Literal("ok").pipe(HttpApiSchema.asText({ contentType: "text/plain; charset=utf-8" }))

/** Why the agent is not healthy: "not registered ..." or "nothing heard in N seconds ...". */
const Unhealthy = Schema.String.pipe(
  HttpApiSchema.asText({ contentType: "text/plain; charset=utf-8" }),
  HttpApiSchema.status(503)
)

/** One flat JSON object a line, oldest first. */
const EventLines = Schema.String.pipe(HttpApiSchema.asText({ contentType: "application/x-ndjson" }))

class AgentLocalGroup extends HttpApiGroup.make("agent").add(
  HttpApiEndpoint.get("metrics", "/metrics", { success: Exposition }),
  HttpApiEndpoint.get("status", "/status", { success: AgentStatus }),
  HttpApiEndpoint.get("health", "/healthz", { success: Healthy, error: Unhealthy }),
  /** `n` is read leniently: clamped to 1 to 1000, and 100 when absent or no number. */
  HttpApiEndpoint.get("events", "/events", {
    query: { n: Schema.optionalKey(Schema.String) },
    success: EventLines
  })
) {}

const description = "The status of an agent at CT_AGENT_METRICS_LISTEN, without authentication."

export class AgentLocalApi extends HttpApi.make("catenet-agent")
  .add(AgentLocalGroup)
  .annotateMerge(
    OpenApi.annotations({ title: "Catenet agent", ...documentHead, description, transform: describeApi })
  ) {}
