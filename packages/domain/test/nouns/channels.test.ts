import * as Channel from "@catenet/domain/Channel"
import * as Topology from "@catenet/domain/Topology"
import { describeNouns } from "./nouns.ts"

describeNouns("Channel", Channel)
describeNouns("Topology", Topology)
