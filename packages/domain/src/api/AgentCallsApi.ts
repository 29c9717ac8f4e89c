/**
 * The parts of the control plane's API that a serving agent calls. A client made of these holds no schemas of the rest,
 * which are a twentieth of an idle agent's memory.
 */
import { HttpApi } from "effect/http-api"
import { AdmissionApi } from "./AdmissionApi.ts"
import { AgentPolicyApi } from "./AgentPolicyApi.ts"
import { EnrollmentApi } from "./EnrollmentApi.ts"
import { StatusApi } from "./StatusApi.ts"

export class AgentCallsApi extends HttpApi.make("catenet")
  .add(StatusApi)
  .add(EnrollmentApi)
  .add(AdmissionApi)
  .add(AgentPolicyApi) {}
