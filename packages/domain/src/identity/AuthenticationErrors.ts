/** Refusals of a caller's credentials. None says which part was wrong. */
import { Schema } from "effect"
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

// Refusals of service accounts, and failures of the identity provider behind them.

/**
 * The service account does not exist, belongs to another account or is not ready yet; the response does not
 * distinguish these.
 */
export class ServiceAccountNotFound extends Problem<ServiceAccountNotFound>()("ServiceAccountNotFound", {
  status: 404,
  title: "Service account not found",
  detail: () => "No service account of yours has this id."
}) {}

/** The account has reached its limit of service accounts. */
export class ServiceAccountLimitReached extends Problem<ServiceAccountLimitReached>()(
  "ServiceAccountLimitReached",
  {
    status: 400,
    title: "Service account limit reached",
    detail: ({ limit }) => `Your account has reached its limit of ${limit} service accounts.`
  },
  { limit: Count }
) {}

/** The identity provider refused the request or is unreachable; nothing was changed here. */
export class IdentityProviderFailed extends Problem<IdentityProviderFailed>()("IdentityProviderFailed", {
  status: 502,
  title: "Identity provider failed",
  detail: () => "The identity provider did not complete the request; try again."
}) {}

/** This installation has no administrative access to an identity provider. */
export class IdentityProviderNotConfigured extends Problem<IdentityProviderNotConfigured>()(
  "IdentityProviderNotConfigured",
  {
    status: 503,
    title: "Identity provider not configured",
    detail: () => "Service accounts are not configured on this deployment."
  }
) {}

/** The request has no bearer token or session, or an invalid one. */
export class Unauthenticated extends Problem<Unauthenticated>()(
  "Unauthenticated",
  {
    status: 401,
    title: "Not signed in",
    detail: ({ missing }) =>
      missing === undefined
        ? "This route needs a valid access token or portal session."
        : "The access token does not say whose it is: ask for it with scope=openid, or have the identity provider put sub into the access tokens of this client."
  },
  {
    /** A claim that the access token lacks, and that the provider does not say either. */
    missing: Schema.optionalKey(Schema.Literal("sub"))
  }
) {}

/** The admin header is missing, malformed or wrong. */
export class AdminTokenRefused extends Problem<AdminTokenRefused>()("AdminTokenRefused", {
  status: 401,
  title: "Admin token refused",
  detail: () => "This route needs the header x-ct-admin-token with the configured token."
}) {}

/** The metrics token is missing or wrong. */
export class MetricsTokenRefused extends Problem<MetricsTokenRefused>()("MetricsTokenRefused", {
  status: 401,
  title: "Metrics token refused",
  detail: () => "This page needs the metrics token as a bearer token."
}) {}

/** A browser sent a write with the session cookie from a page of another origin. */
export class CrossSiteRequest extends Problem<CrossSiteRequest>()("CrossSiteRequest", {
  status: 403,
  title: "Cross-site request",
  detail: () => "A session cookie is honoured on writes only when the request comes from the portal itself."
}) {}

/** The account has no session with this id. */
export class SessionNotFound extends Problem<SessionNotFound>()("SessionNotFound", {
  status: 404,
  title: "Session not found",
  detail: () => "No session of yours has this name."
}) {}

/**
 * The identity provider's response belongs to no sign-in that this browser began, has already been used, or arrived
 * too late.
 */
export class SignInRefused extends Problem<SignInRefused>()("SignInRefused", {
  status: 403,
  title: "Sign-in refused",
  detail: () => "This sign-in was started in another browser, or it has expired."
}) {}

/** The user or the identity provider cancelled the sign-in. */
export class SignInCancelled extends Problem<SignInCancelled>()("SignInCancelled", {
  status: 403,
  title: "Sign-in cancelled",
  detail: () => "The sign-in was cancelled at the identity provider; nothing has changed."
}) {}

/** Only accounts with an e-mail address of certain domains may use this installation. */
export class EmailDomainRefused extends Problem<EmailDomainRefused>()("EmailDomainRefused", {
  status: 403,
  title: "Not for this address",
  detail: () => "The operator of this platform does not allow e-mail addresses of your domain."
}) {}

/** The identity provider did not identify the user. */
export class SignInFailed extends Problem<SignInFailed>()("SignInFailed", {
  status: 502,
  title: "Sign-in failed",
  detail: () => "The identity provider did not complete the sign-in."
}) {}

/** No client at an identity provider is configured. */
export class SignInNotConfigured extends Problem<SignInNotConfigured>()("SignInNotConfigured", {
  status: 503,
  title: "Sign-in not configured",
  detail: () => "Signing in is not configured on this deployment."
}) {}

/** The route requires an e-mail address that the identity provider has verified. */
export class VerifiedEmailRequired extends Problem<VerifiedEmailRequired>()("VerifiedEmailRequired", {
  status: 403,
  title: "Verified e-mail required",
  detail: () => "This needs a session with an e-mail address that the identity provider has verified."
}) {}
