/** What the platform needs of a DNS back end. Which one there is, if any, is a matter of configuration. */
import { baseOf, type Hostname } from "@catenet/domain/values/Hostname"
import type { Address } from "@catenet/platform/NetworkParser"
import { Context, Data, type Effect } from "effect"

/** The back end did not take a change. `why` is for the log. */
export class ChangeRefused extends Data.TaggedError("ChangeRefused")<{ readonly why: string }> {
  override get message() {
    return `The DNS back end did not take the change: ${this.why}`
  }
}

/** All records of one type at a name in the zone; no values is none. Addresses and texts are written as people do. */
export interface RecordSet {
  readonly name: string
  readonly type: "A" | "AAAA" | "TXT"
  readonly values: ReadonlyArray<string>
}

/** Name of the record of a challenge. */
export const challengeName = (hostname: Hostname): string => `_acme-challenge.${baseOf(hostname)}`

/** Whether a name lies in a zone, or is it. */
export const isWithin = (name: string, zone: string): boolean => name === zone || name.endsWith(`.${zone}`)

export class DnsProvider extends Context.Service<
  DnsProvider,
  {
    /** The zone in which names can be changed; undefined where there is no back end. */
    readonly zone: string | undefined
    /** Makes a record set of the zone be this one. Repeating it does no harm. */
    readonly set: (records: RecordSet) => Effect.Effect<void, ChangeRefused>
    /** The servers that all the world will ask. */
    readonly authoritative: Effect.Effect<ReadonlyArray<Address>, ChangeRefused>
  }
>()("server/dns/DnsProvider") {}
