import * as Directory from "@catenet/domain/agents/Directory"
import * as Matching from "@catenet/domain/agents/Matching"
import * as Pipeline from "@catenet/domain/agents/Pipeline"
import * as AgentStatus from "@catenet/domain/enrollment/AgentStatus"
import * as JoinToken from "@catenet/domain/enrollment/JoinToken"
import { describeNouns } from "./nouns.ts"

describeNouns("AgentStatus", AgentStatus)
describeNouns("Matching", Matching)
describeNouns("Pipeline", Pipeline)
describeNouns("Directory", Directory)
describeNouns("JoinToken", JoinToken)
