import * as Agent from "@catenet/domain/Agent"
import * as AgentCard from "@catenet/domain/AgentCard"
import * as AgentStatus from "@catenet/domain/AgentStatus"
import * as Capacity from "@catenet/domain/Capacity"
import * as Outstanding from "@catenet/domain/Outstanding"
import * as Pipeline from "@catenet/domain/Pipeline"
import * as Directory from "@catenet/domain/Directory"
import { describeNouns } from "./nouns.ts"

describeNouns("Agent", Agent)
describeNouns("AgentCard", AgentCard)
describeNouns("AgentStatus", AgentStatus)
describeNouns("Capacity", Capacity)
describeNouns("Pipeline", Pipeline)
describeNouns("Directory", Directory)
describeNouns("Outstanding", Outstanding)
