/**
 * The control plane's whole JSON API as one value: routes, authentication, requests, answers and every refusal.
 *
 * Server, typed clients, tests and the OpenAPI document are all made from it.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import { AdmissionApi } from "./AdmissionApi.ts"
import { EdgesApi } from "./EdgesApi.ts"
import { EnrollmentApi } from "./EnrollmentApi.ts"
import { ProvisioningApi } from "./ProvisioningApi.ts"
import { StatusApi } from "./StatusApi.ts"

export class ControlPlaneApi extends HttpApi.make("catenet")
  .add(StatusApi)
  .add(EnrollmentApi)
  .add(ProvisioningApi)
  .add(AdmissionApi)
  .add(EdgesApi)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" })
  .annotateMerge(OpenApi.annotations({ title: "Catenet control plane", version: "0.1.0" })) {}
