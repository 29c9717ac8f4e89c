import * as AgentCard from "@catenet/domain/agents/AgentCard"
import * as Capacity from "@catenet/domain/agents/Capacity"
import * as Directory from "@catenet/domain/agents/Directory"
import * as Pipeline from "@catenet/domain/agents/Pipeline"
import * as Agent from "@catenet/domain/enrollment/Agent"
import * as AgentStatus from "@catenet/domain/enrollment/AgentStatus"
import * as Outstanding from "@catenet/domain/enrollment/OutstandingTokens"
import { describeNouns } from "./nouns.ts"

describeNouns("Agent", Agent)
describeNouns("AgentCard", AgentCard)
describeNouns("AgentStatus", AgentStatus)
describeNouns("Capacity", Capacity)
describeNouns("Pipeline", Pipeline)
describeNouns("Directory", Directory)
describeNouns("OutstandingTokens", Outstanding)
