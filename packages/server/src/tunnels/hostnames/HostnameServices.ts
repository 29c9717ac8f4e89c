/** Host names: who owns one, how that is proved, and the records that lead to an edge. */
import { Layer } from "effect"
import { AddressRecords } from "./AddressRecords.ts"
import { HostnameProofs } from "./HostnameProofs.ts"
import { Hosts } from "./Hosts.ts"

export const layer = Layer.mergeAll(AddressRecords.layer, HostnameProofs.layer, Hosts.layer)
