/** Selects the control plane of a user's command: the configured one, or the one of the stored login. */
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Effect } from "effect"
import * as StoredLogin from "../login/StoredLogin.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import type { Account } from "./AccountClient.ts"

export type Given = Parameters<typeof LoginVariables.sourceOf>[0] & { readonly controlPlane: string | undefined }

/** The control plane's address, if known. */
export const controlPlaneOf = Effect.fnUntraced(function* ({ controlPlane, ...given }: Given) {
  if (controlPlane !== undefined) return controlPlane
  const { stored } = LoginVariables.sourceOf(given)
  const login = yield* Effect.orElseSucceed(StoredLogin.read(stored), () => undefined)
  return login?.controlPlane
})

export const of = Effect.fn("ControlPlaneSelection.of")(function* (given: Given) {
  const controlPlane = yield* controlPlaneOf(given)
  if (controlPlane === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_CP_URL",
      "is not set",
      "set it to the address of the control plane, or run ct-agent login with that address"
    )
  const account: Account = { controlPlane, source: LoginVariables.sourceOf(given) }
  return account
})
