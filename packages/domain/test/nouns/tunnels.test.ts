import * as AccessPolicy from "@catenet/domain/AccessPolicy"
import * as Admission from "@catenet/domain/Admission"
import * as AgentProof from "@catenet/domain/AgentProof"
import * as Alert from "@catenet/domain/Alert"
import * as EdgeNode from "@catenet/domain/EdgeNode"
import * as GateVisit from "@catenet/domain/GateVisit"
import * as HostnameProof from "@catenet/domain/HostnameProof"
import * as Receipt from "@catenet/domain/Receipt"
import * as ShareLink from "@catenet/domain/ShareLink"
import * as Status from "@catenet/domain/Status"
import * as Tunnel from "@catenet/domain/Tunnel"
import * as TunnelTraffic from "@catenet/domain/TunnelTraffic"
import * as Usage from "@catenet/domain/Usage"
import { describeNouns } from "./nouns.ts"

describeNouns("AccessPolicy", AccessPolicy)
describeNouns("Admission", Admission)
describeNouns("AgentProof", AgentProof)
describeNouns("Alert", Alert)
describeNouns("EdgeNode", EdgeNode)
describeNouns("GateVisit", GateVisit)
describeNouns("HostnameProof", HostnameProof)
describeNouns("Receipt", Receipt)
describeNouns("ShareLink", ShareLink)
describeNouns("Status", Status)
describeNouns("Tunnel", Tunnel)
describeNouns("TunnelTraffic", TunnelTraffic)
describeNouns("Usage", Usage)
