/**
 * The groups of the API value that this program has handlers for. What is not here is not there: 404, and no word of it
 * in the OpenAPI document.
 */
import { AdmissionApi } from "@catenet/domain/api/AdmissionApi"
import { ControlPlaneApi } from "@catenet/domain/api/ControlPlaneApi"
import { EdgesApi } from "@catenet/domain/api/EdgesApi"
import { EnrollmentApi } from "@catenet/domain/api/EnrollmentApi"
import { ProvisioningApi } from "@catenet/domain/api/ProvisioningApi"
import { StatusApi } from "@catenet/domain/api/StatusApi"
import { TunnelsApi } from "@catenet/domain/api/TunnelsApi"
import { HttpApi } from "effect/http-api"

export class ServedApi extends HttpApi.make("catenet")
  .add(StatusApi)
  .add(EnrollmentApi)
  .add(ProvisioningApi)
  .add(AdmissionApi)
  .add(TunnelsApi)
  .add(EdgesApi)
  .annotateMerge(ControlPlaneApi.annotations) {}
