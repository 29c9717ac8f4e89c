/** Public status: liveness, readiness, counts, ports and the certificate authority of the mesh plane. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { EdgeCaNotConfigured, EdgeCaNotPublished } from "../edges/EdgeErrors.ts"
import { NetworkInfo, Status } from "../edges/PlatformStatus.ts"
import { DatabaseUnreachable, NotServing } from "../values/RequestErrors.ts"

/** DER bytes; byte-stable over redeploys, because agents pin them. */
const CaCertificate = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/x-x509-ca-cert" }))

export class StatusApi extends HttpApiGroup.make("status").add(
  HttpApiEndpoint.get("status", "/status", { success: Status }),
  HttpApiEndpoint.get("live", "/healthz", { success: HttpApiSchema.Empty(200) }),
  HttpApiEndpoint.get("ready", "/readyz", {
    success: HttpApiSchema.Empty(200),
    error: [DatabaseUnreachable, NotServing]
  }),
  HttpApiEndpoint.get("networkInfo", "/network-info", { success: NetworkInfo }),
  HttpApiEndpoint.get("edgeCa", "/pki/ca", { success: CaCertificate, error: [EdgeCaNotPublished, EdgeCaNotConfigured] })
) {}
