import * as Status from "@catenet/domain/api/StatusApi"
import * as Admission from "@catenet/domain/certificates/Admission"
import * as CertificateStanding from "@catenet/domain/certificates/CertificateStanding"
import * as AccessPolicy from "@catenet/domain/edges/AccessPolicy"
import * as EdgeNode from "@catenet/domain/edges/EdgeNode"
import * as EdgeOrder from "@catenet/domain/edges/EdgeOrder"
import * as HostCertificates from "@catenet/domain/edges/HostCertificates"
import * as PublicPort from "@catenet/domain/edges/PublicPort"
import * as TicketKeys from "@catenet/domain/edges/TicketKeys"
import * as TunnelOptions from "@catenet/domain/edges/TunnelOptions"
import * as AddressRange from "@catenet/domain/rules/AddressRange"
import * as Amount from "@catenet/domain/rules/Amount"
import * as Route from "@catenet/domain/rules/Route"
import * as Rules from "@catenet/domain/rules/Rules"
import * as Alert from "@catenet/domain/tunnels/Alert"
import * as AlertFormat from "@catenet/domain/tunnels/AlertFormat"
import * as GateVisit from "@catenet/domain/tunnels/GateVisit"
import { DnsRecord, HostnameProof } from "@catenet/domain/tunnels/HostnameOwnership"
import * as Reachability from "@catenet/domain/tunnels/Reachability"
import * as Receipt from "@catenet/domain/tunnels/Receipt"
import * as ServicesFile from "@catenet/domain/tunnels/ServicesFile"
import * as ShareLink from "@catenet/domain/tunnels/ShareLink"
import * as Tunnel from "@catenet/domain/tunnels/Tunnel"
import * as TunnelPolicy from "@catenet/domain/tunnels/TunnelPolicy"
import * as TunnelTraffic from "@catenet/domain/tunnels/TunnelTraffic"
import * as Uptime from "@catenet/domain/tunnels/Uptime"
import * as Usage from "@catenet/domain/tunnels/Usage"
import { describeNouns } from "./nouns.ts"

describeNouns("AccessPolicy", AccessPolicy)
describeNouns("AddressRange", AddressRange)
describeNouns("Amount", Amount)
describeNouns("Route", Route)
describeNouns("Rules", Rules)
describeNouns("Admission", Admission)
describeNouns("CertificateStanding", CertificateStanding)
describeNouns("TunnelOptions", TunnelOptions)
describeNouns("Alert", Alert)
describeNouns("AlertFormat", AlertFormat)
describeNouns("Uptime", Uptime)
describeNouns("HostCertificates", HostCertificates)
describeNouns("TicketKeys", TicketKeys)
describeNouns("EdgeNode", EdgeNode)
describeNouns("EdgeOrder", EdgeOrder)
describeNouns("PublicPort", PublicPort)
describeNouns("GateVisit", GateVisit)
describeNouns("HostnameOwnership", { DnsRecord, HostnameProof })
describeNouns("Reachability", Reachability)
describeNouns("Receipt", Receipt)
describeNouns("ServicesFile", ServicesFile)
describeNouns("ShareLink", ShareLink)
describeNouns("PlatformStatus", Status)
describeNouns("Tunnel", Tunnel)
describeNouns("TunnelPolicy", TunnelPolicy)
describeNouns("TunnelTraffic", TunnelTraffic)
describeNouns("Usage", Usage)
