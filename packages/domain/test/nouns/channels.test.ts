import * as Channel from "@catenet/domain/channels/Channel"
import * as Topology from "@catenet/domain/topologies/Topology"
import { describeNouns } from "./nouns.ts"

describeNouns("Channel", Channel)
describeNouns("Topology", Topology)
