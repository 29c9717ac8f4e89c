/** Waits for the DNS record that proves a host name of the account's own. */
import type { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import { Effect } from "effect"
import type { Account } from "./AccountClient.ts"
import * as TunnelClient from "./TunnelClient.ts"

const lookEvery = "30 seconds"

/**
 * The tunnel once DNS proves its host name, which leads nowhere before; `waits` runs before the wait. A tunnel that has another
 * name is returned at once, unless the one to be proved is `wanted`.
 */
export const provedHostname = Effect.fnUntraced(function* (
  account: Account,
  tunnel: Tunnel,
  wanted: string | undefined,
  waits: Effect.Effect<void>
) {
  const { hostname, hostname_proof: proof } = tunnel
  if (proof === null || proof.state === "proved") return tunnel
  if (hostname !== null && wanted !== proof.hostname) return tunnel
  const records = proof.records.map(({ name, type, value }) => `${name} ${type} ${value}`).join("  or  ")
  const look = Effect.catchTag(TunnelClient.verify(account, tunnel), "Refused", (refused) =>
    refused.status === 409 ? Effect.undefined : Effect.fail(refused)
  )
  const first = yield* look
  if (first !== undefined) return first
  const { certificate } = proof
  const more = certificate && `  and for its certificate  ${certificate.name} ${certificate.type} ${certificate.value}`
  yield* waits
  yield* Effect.logWarning(
    `DNS does not prove ${proof.hostname} yet. Add one of these records; it is looked up every ${lookEvery}: ${records}${more ?? ""}`
  )
  while (true) {
    yield* Effect.sleep(lookEvery)
    const found = yield* Effect.catchTag(look, "Unreachable", ({ message }) =>
      Effect.as(Effect.logInfo(message), undefined)
    )
    if (found !== undefined) return found
  }
})
