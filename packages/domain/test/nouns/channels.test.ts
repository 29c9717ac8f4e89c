import * as Channel from "@catenet/domain/channels/Channel"
import * as ChannelOperator from "@catenet/domain/channels/ChannelOperator"
import * as Claim from "@catenet/domain/channels/Claim"
import * as ClaimInvite from "@catenet/domain/channels/ClaimInvite"
import * as InvitationRedemption from "@catenet/domain/channels/InvitationRedemption"
import * as Topology from "@catenet/domain/topologies/Topology"
import { describeNouns } from "./nouns.ts"

describeNouns("Channel", Channel)
describeNouns("ChannelOperator", ChannelOperator)
describeNouns("Claim", Claim)
describeNouns("ClaimInvite", ClaimInvite)
describeNouns("InvitationRedemption", InvitationRedemption)
describeNouns("Topology", Topology)
