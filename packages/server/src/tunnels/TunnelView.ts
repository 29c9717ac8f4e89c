/** A tunnel as accounts see it: the row, and of a name that its owner brought what proves it. */
import { DnsRecord, HostnameProof } from "@catenet/domain/tunnels/HostnameOwnership"
import { Tunnel } from "@catenet/domain/tunnels/Tunnel"
import type { HostnameRules } from "./hostnames/HostnameRules.ts"
import type { ShownRow } from "./TunnelStore.ts"

export const tunnelOf =
  (rules: HostnameRules["Service"]) =>
  ({ checked_at, claimed, options, proved_at, provisioned, ...row }: ShownRow): Tunnel => {
    const isClaim = claimed !== null && !provisioned && !rules.isGiven(claimed)
    const hostname_proof = isClaim
      ? new HostnameProof({
          hostname: claimed,
          state: proved_at === null ? "pending" : "proved",
          checked_at,
          records: rules.recordsOf(row.id, claimed).map((record) => new DnsRecord(record))
        })
      : null
    // The row was checked when it was read.
    return new Tunnel({ ...row, ...options, hostname_proof }, { disableChecks: true })
  }
