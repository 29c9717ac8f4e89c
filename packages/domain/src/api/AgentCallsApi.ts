/**
 * The parts of the control plane's API that an agent calls while it serves. A client that is made of this holds no schema of the rest,
 * which is a twentieth of an idle agent's memory.
 */
import { HttpApi } from "effect/http-api"
import { AdmissionApi } from "./AdmissionApi.ts"
import { EnrollmentApi } from "./EnrollmentApi.ts"
import { StatusApi } from "./StatusApi.ts"

export class AgentCallsApi extends HttpApi.make("catenet").add(StatusApi).add(EnrollmentApi).add(AdmissionApi) {}
