/** The provider's answer to a sign-in that it did not complete: `error` in the place of a code (RFC 6749, 4.1.2.1). */
import { SignInCancelled, SignInFailed } from "@catenet/domain/identity/AuthenticationErrors"

/** The refusal that the browser sees for an error of the provider; undefined where the answer names none. */
export const refusalOf = (query: URLSearchParams): SignInCancelled | SignInFailed | undefined => {
  const error = query.get("error") ?? ""
  if (error === "") return undefined
  return error === "access_denied" ? new SignInCancelled() : new SignInFailed()
}
