/**
 * Login from another device (RFC 8628): the provider gives a code, a person enters it in a browser, and this polls for the tokens
 * at the provider's interval. Timeouts are tolerated while the code is valid.
 */
import { clause } from "@catenet/domain/values/Sentence"
import { Clock, Effect, Redacted } from "effect"
import { Refused, Unreachable } from "../Failure.ts"
import * as IdentityProviderClient from "./IdentityProviderClient.ts"
import type { StoredLogin } from "./StoredLogin.ts"

const standardInterval = 5
const standardLife = 600
/** A shorter interval of the provider is ignored. */
const minInterval = 1

export interface Asked {
  readonly issuer: string
  readonly clientId: string
  readonly controlPlane: string | undefined
}

export type Device = Effect.Success<ReturnType<typeof IdentityProviderClient.device>>

const ended = () => new Refused({ detail: "The code was not confirmed in time. Run ct-agent login again." })

const ends: ReadonlyMap<string | undefined, () => Refused> = new Map([
  ["expired_token", ended],
  ["access_denied", () => new Refused({ detail: "The login was declined at the identity provider." })]
])

/** Polls once; a number is the pause until the next attempt. */
const once = Effect.fnUntraced(function* ({ clientId, issuer }: Asked, device: Device, interval: number) {
  const form = {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: Redacted.value(device.device_code),
    client_id: clientId
  }
  return yield* IdentityProviderClient.tokens(issuer, form).pipe(
    Effect.catchTags({
      ProviderAway: ({ reason }) =>
        Effect.as(Effect.logWarning(`the identity provider does not answer: ${clause(reason)}; trying on`), interval),
      ProviderRefused: ({ code, reason }) => {
        if (code === "authorization_pending") return Effect.succeed(interval)
        if (code === "slow_down") return Effect.succeed(interval + 5)
        return Effect.fail(
          ends.get(code)?.() ?? new Refused({ detail: `The identity provider refused the login: ${clause(reason)}.` })
        )
      }
    })
  )
})

/** The tokens, once a person has confirmed; `show` receives what that person needs. */
export const run = Effect.fn("DeviceFlow.run")(function* (asked: Asked, show: (device: Device) => Effect.Effect<void>) {
  const { clientId, controlPlane, issuer } = asked
  const device = yield* IdentityProviderClient.device(issuer, clientId).pipe(
    Effect.catchTags({
      ProviderAway: ({ reason }) =>
        Effect.fail(
          new Unreachable({
            detail: `The identity provider ${issuer} cannot be asked for a login: ${clause(reason)}. Check CT_OIDC_ISSUER.`
          })
        ),
      ProviderRefused: ({ reason }) =>
        Effect.fail(
          new Refused({
            detail: `The identity provider ${issuer} gives no login to the client ${clientId}: ${clause(reason)}. Check CT_OIDC_ISSUER and CT_OIDC_CLI_CLIENT_ID.`
          })
        )
    })
  )
  yield* show(device)
  const end = (yield* Clock.currentTimeMillis) + (device.expires_in ?? standardLife) * 1000
  let interval = Math.max(minInterval, device.interval ?? standardInterval)
  while (true) {
    // Not after the code has expired.
    yield* Effect.sleep(Math.max(0, Math.min(interval * 1000, end - (yield* Clock.currentTimeMillis))))
    if ((yield* Clock.currentTimeMillis) >= end) return yield* ended()
    const answer = yield* once(asked, device, interval)
    if (typeof answer !== "number") return { ...answer, issuer, clientId, controlPlane } satisfies StoredLogin
    interval = answer
  }
})
