/** Who knows the callers of a tunnel's MCP server: the control plane, which asks its identity provider for the keys of access tokens. */
import { Hostname } from "@catenet/domain/values/Hostname"
import { clause } from "@catenet/domain/values/Sentence"
import { Effect, FiberSet, Redacted, Schema } from "effect"
import { HttpClient } from "effect/http"
import * as IdentityProviderClient from "../login/IdentityProviderClient.ts"
import type { PolicyClient } from "../policy/PolicyClient.ts"
import type { Authority } from "./McpOrigin.ts"

const readHost = Schema.decodeUnknownEffect(Hostname)

/** `address` is the public address of the host, for which tokens are made. */
export const make = Effect.fn("TunnelAuthority.make")(function* (
  controlPlane: string,
  client: PolicyClient,
  address: string
) {
  const http = yield* HttpClient.HttpClient
  const run = yield* FiberSet.makeRuntimePromise()
  let issuer: string | undefined
  const authority: Authority = {
    ask: (token) =>
      run(
        Effect.gen(function* () {
          const host = yield* readHost(new URL(address).hostname)
          const said = yield* client.caller({
            host,
            resource: address,
            bearer: Redacted.make(token, { label: "access token" })
          })
          if (said === "token") return { _tag: "Invalid" as const }
          if (said === "account") return { _tag: "Forbidden" as const }
          const { client: account, email, expires_at, subject } = said
          return { _tag: "Admitted" as const, subject, email, client: account, expiresAt: expires_at }
        }).pipe(
          Effect.tapError(({ message }) =>
            Effect.logWarning(`an access token could not be checked: ${clause(message)}`)
          )
        )
      ),
    issuer: async () => {
      const asked = IdentityProviderClient.issuerOf(controlPlane).pipe(
        Effect.provideService(HttpClient.HttpClient, http),
        Effect.tapError(({ message }) => Effect.logWarning(message)),
        Effect.orElseSucceed(() => undefined)
      )
      issuer ??= await run(asked)
      return issuer
    }
  }
  return authority
})
