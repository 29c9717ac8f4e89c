/** The name servers of a zone, by the world's own account: its NS records and their addresses. */
import type { Address } from "@catenet/platform/NetworkParser"
import { Effect } from "effect"
import { resolve4, resolve6, resolveNs } from "node:dns/promises"
import { ChangeRefused } from "./DnsProvider.ts"

const found = (resolve: () => Promise<ReadonlyArray<string>>) =>
  Effect.orElseSucceed(Effect.tryPromise(resolve), (): ReadonlyArray<string> => [])

/** The addresses of all name servers. A zone without any cannot be waited for. */
export const ofZone = Effect.fn("AuthoritativeServers.ofZone")(function* (zone: string) {
  const names = yield* found(() => resolveNs(zone))
  const addresses = yield* Effect.forEach(
    names.flatMap((name) => [found(() => resolve4(name)), found(() => resolve6(name))]),
    (each) => each,
    { concurrency: "unbounded" }
  )
  const servers = addresses.flat().map((host): Address => ({ host, port: 53 }))
  return servers.length === 0 ? yield* new ChangeRefused({ why: `no name server of ${zone} is known` }) : servers
})
