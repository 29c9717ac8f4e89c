/** Refusals of service accounts, and failures of the identity provider behind them. */
import { Count } from "../values/Numbers.ts"
import { Problem } from "../values/Problem.ts"

/** Foreign, unknown or not yet ready; one answer for all. */
export class ServiceAccountNotFound extends Problem<ServiceAccountNotFound>()("ServiceAccountNotFound", {
  status: 404,
  title: "Service account not found",
  detail: () => "No service account of yours has this id."
}) {}

/** The account has as many service accounts as it may have. */
export class ServiceAccountLimitReached extends Problem<ServiceAccountLimitReached>()(
  "ServiceAccountLimitReached",
  {
    status: 400,
    title: "Service account limit reached",
    detail: ({ limit }) => `Your account has ${limit} service accounts, which is its limit.`
  },
  { limit: Count }
) {}

/** The identity provider refused or cannot be reached; nothing was changed here. */
export class IdentityProviderFailed extends Problem<IdentityProviderFailed>()("IdentityProviderFailed", {
  status: 502,
  title: "Identity provider failed",
  detail: () => "The identity provider did not carry out the request; try again."
}) {}

/** This deployment has no administrative access to an identity provider. */
export class IdentityProviderNotConfigured extends Problem<IdentityProviderNotConfigured>()(
  "IdentityProviderNotConfigured",
  {
    status: 503,
    title: "Identity provider not configured",
    detail: () => "Service accounts are not configured on this deployment."
  }
) {}
