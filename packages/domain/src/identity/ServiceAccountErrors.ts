/** Refusals of service accounts, and failures of the identity provider behind them. */
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

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
    detail: ({ limit }) => `Your account has ${limit} service accounts, which is its limit.`
  },
  { limit: Count }
) {}

/** The identity provider refused the request or is unreachable; nothing was changed here. */
export class IdentityProviderFailed extends Problem<IdentityProviderFailed>()("IdentityProviderFailed", {
  status: 502,
  title: "Identity provider failed",
  detail: () => "The identity provider did not carry out the request; try again."
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
