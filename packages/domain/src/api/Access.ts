/**
 * Who may call: one middleware for each kind of authentication, which provides the principal that it verified.
 *
 * Declared here, implemented by the server (tokens, sessions) and by the edge (its admin token). A handler that needs a
 * principal without such a middleware does not compile.
 */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  AdminTokenRefused,
  CrossSiteRequest,
  EmailDomainRefused,
  Unauthenticated
} from "../identity/AuthenticationErrors.ts"
import type { Email } from "../values/Email.ts"
import type { Subject } from "../values/Ids.ts"
import { RateLimited, RouteNotFound } from "../values/RequestErrors.ts"

/** A verified account holder. `email` is one that the provider has verified; a bearer caller never has one. */
export class Caller extends Context.Service<
  Caller,
  {
    readonly subject: Subject
    readonly email: Email | null
    readonly means: "bearer" | "session"
    /** The account that made a service account, or that made its maker; absent for any other caller. */
    readonly maker?: Subject | undefined
  }
>()("domain/api/Access/Caller") {}

/**
 * Whose quotas and shares a caller uses: a service account has none beside those of the account that made it.
 *
 * ```ts
 * import { quotaSubject } from "@catenet/domain/api/Access"
 * import { Subject } from "@catenet/domain/values/Ids"
 * import { strictEqual } from "node:assert"
 *
 * const [machine, ada] = [Subject.make("machine"), Subject.make("ada")]
 * strictEqual(quotaSubject({ subject: machine, email: null, means: "bearer", maker: ada }), ada)
 * strictEqual(quotaSubject({ subject: ada, email: null, means: "session" }), ada)
 * ```
 */
export const quotaSubject = ({ maker, subject }: Caller["Service"]): Subject => maker ?? subject

/** A holder of the admin token: an operator, or an edge. */
export class Administrator extends Context.Service<Administrator, { readonly means: "admin-token" }>()(
  "domain/api/Access/Administrator"
) {}

const adminHeader = HttpApiSecurity.apiKey({ key: "x-ct-admin-token", in: "header" })
const sessionCookie = HttpApiSecurity.apiKey({ key: "__Host-ct_portal_session", in: "cookie" })

/** The admin token of the control plane. Without a configured one the route is absent: 404. */
export class AdminAccess extends HttpApiMiddleware.Service<AdminAccess, { provides: Administrator }>()(
  "domain/api/Access/AdminAccess",
  { requiredForClient: true, security: { admin: adminHeader }, error: [AdminTokenRefused, RouteNotFound] }
) {}

/** The admin token at an edge, which always has one. */
export class EdgeAdminAccess extends HttpApiMiddleware.Service<EdgeAdminAccess, { provides: Administrator }>()(
  "domain/api/Access/EdgeAdminAccess",
  { requiredForClient: true, security: { admin: adminHeader }, error: AdminTokenRefused }
) {}

/** An access token of the identity provider. While no key is known to verify one, the route is absent: 404. */
export class BearerAccess extends HttpApiMiddleware.Service<BearerAccess, { provides: Caller }>()(
  "domain/api/Access/BearerAccess",
  {
    requiredForClient: true,
    security: { bearer: HttpApiSecurity.bearer },
    error: [Unauthenticated, EmailDomainRefused, RouteNotFound]
  }
) {}

/** The session cookie of the portal. */
export class SessionAccess extends HttpApiMiddleware.Service<SessionAccess, { provides: Caller }>()(
  "domain/api/Access/SessionAccess",
  { requiredForClient: true, security: { session: sessionCookie }, error: [Unauthenticated, EmailDomainRefused] }
) {}

/** Cookie first, then bearer; the same subject either way. Absent (404) as `BearerAccess` is. */
export class AccountAccess extends HttpApiMiddleware.Service<AccountAccess, { provides: Caller }>()(
  "domain/api/Access/AccountAccess",
  {
    requiredForClient: true,
    security: { session: sessionCookie, bearer: HttpApiSecurity.bearer },
    error: [Unauthenticated, EmailDomainRefused, RouteNotFound]
  }
) {}

/** Stands inside `SessionAccess` or `AccountAccess` on writes: a cookie counts only on requests from the portal itself. */
export class SameOrigin extends HttpApiMiddleware.Service<SameOrigin, { requires: Caller }>()(
  "domain/api/Access/SameOrigin",
  { error: CrossSiteRequest }
) {}

/** Stands on the routes of the DNS-01 broker: where names cannot be changed, the routes are absent (404). */
export class BrokersDns extends HttpApiMiddleware.Service<BrokersDns>()("domain/api/Access/BrokersDns", {
  error: RouteNotFound
}) {}

/** A token bucket a caller, or an address where no caller is known. It stands inside what verifies the caller. */
export class RateLimit extends HttpApiMiddleware.Service<RateLimit>()("domain/api/Access/RateLimit", {
  error: RateLimited
}) {}

/**
 * Stands inside what verifies the caller, on a route that costs much: one request of an account at a time, from the first byte of
 * its body. A few more of the same account wait for it, the others are refused.
 */
export class OneAtATime extends HttpApiMiddleware.Service<OneAtATime, { requires: Caller }>()(
  "domain/api/Access/OneAtATime",
  { error: RateLimited }
) {}
