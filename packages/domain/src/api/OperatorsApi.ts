/** What operators may read and change of accounts, and the whole audit log. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { AuditEntry } from "../identity/AuditEntry.ts"
import { Count, CountFromText } from "../values/Numbers.ts"
import { Subject } from "../values/Subject.ts"
import { line } from "../values/Text.ts"
import { AdminAccess } from "./Access.ts"
import { pageQuery } from "./Page.ts"
import { exactBody, ReadsBody, ReadsParameters } from "./RequestReading.ts"

/** Any that the identity provider may give: limits can be set before the account's first request. */
const subject = { subject: Subject }

/** As many as a column of the database holds. */
const limitOfAccount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

export class OperatorsApi extends HttpApiGroup.make("operators")
  .add(
    HttpApiEndpoint.post("setMaxTunnels", "/admin/accounts/:subject/max-tunnels", {
      params: subject,
      payload: Schema.Struct({ max: limitOfAccount }),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsBody),
    HttpApiEndpoint.post("setMaxChannels", "/admin/accounts/:subject/max-channels", {
      params: subject,
      payload: Schema.Struct({ max: limitOfAccount }),
      success: HttpApiSchema.Empty(200)
    }).middleware(ReadsBody),
    HttpApiEndpoint.get("limits", "/admin/accounts/:subject", {
      params: subject,
      success: Schema.Struct({ subject: Subject, max_tunnels: Count, max_channels: Count })
    }).middleware(ReadsParameters),
    /** Newest first. */
    HttpApiEndpoint.get("auditLog", "/admin/audit-log", {
      query: {
        actor: Schema.optionalKey(line(255)),
        action: Schema.optionalKey(line(64)),
        target: Schema.optionalKey(line(255)),
        since: Schema.optionalKey(CountFromText),
        ...pageQuery
      },
      success: Schema.Array(AuditEntry)
    }).middleware(ReadsParameters)
  )
  .annotateEndpointsMerge(exactBody)
  .middleware(AdminAccess) {}
