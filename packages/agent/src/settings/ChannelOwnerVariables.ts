/** The variables of the commands that make a channel, name its members and own it. */
import { account } from "./AccountVariables.ts"
import * as BridgeVariables from "./BridgeVariables.ts"
import * as ChannelOperatorVariables from "./ChannelOperatorVariables.ts"
import * as MemberVariables from "./MemberVariables.ts"
import * as TunnelVariables from "./TunnelVariables.ts"

const { controlPlane, stateDir } = TunnelVariables.variables
const { broker, frontDoor, frontDoorCertificate, frontDoorOnly, grant, relay, role } = MemberVariables.variables

/** Of `channel invite`: those of a member, and the operator's key. */
export const invite = {
  role,
  broker,
  relay,
  frontDoor,
  frontDoorCertificate,
  frontDoorOnly,
  grant,
  channel: MemberVariables.variables.channel,
  controlPlane,
  bearer: BridgeVariables.variables.bearer,
  bearerFile: BridgeVariables.variables.bearerFile,
  loginFile: BridgeVariables.variables.loginFile,
  stateDir,
  operatorKey: BridgeVariables.requiredOperatorKey
} as const

/** Of `channel member-material`. */
export const memberMaterial = { ...ChannelOperatorVariables.memberMaterial, ...ChannelOperatorVariables.material }

/** Of `channel join-pipeline-role`. */
export const joinPipelineRole = {
  operatorPubkey: ChannelOperatorVariables.optionalOperatorPubkey,
  controlPlane: TunnelVariables.knownControlPlane,
  ...ChannelOperatorVariables.pipeline,
  ...ChannelOperatorVariables.material
}

/** Of `channel bind-topology`. */
export const bindTopology = {
  ...account,
  operatorKey: BridgeVariables.requiredOperatorKey,
  topology: ChannelOperatorVariables.topology
}

/** Of `channel grant`. */
export const grantMember = {
  ...account,
  operatorKey: BridgeVariables.requiredOperatorKey,
  ...ChannelOperatorVariables.grant
}

/** Of `channel grant --interactive`, which asks for the others. */
export const grantAsked = { ...account, operatorKey: BridgeVariables.requiredOperatorKey }

/** Of `channel invite` for an identity. */
export const bareInvite = { operatorKey: BridgeVariables.requiredOperatorKey, ...ChannelOperatorVariables.invitation }

/** Of `channel redeem`. */
export const redeem = {
  controlPlane,
  holderKey: ChannelOperatorVariables.material.holderKey,
  noiseKey: MemberVariables.variables.noiseKey
}

/** Of the commands of a channel's owner. */
export const ownedChannel = {
  ...account,
  channel: MemberVariables.variables.channel,
  grantChannel: ChannelOperatorVariables.optionalGrantChannel
}

/** Of `channel register`. */
export const register = {
  ...ownedChannel,
  operatorPubkey: ChannelOperatorVariables.optionalOperatorPubkey,
  operatorKey: BridgeVariables.variables.operatorKey
}

/** Of the commands that make channels and their members, as far as no other command reads them. */
export const operator = {
  ...ChannelOperatorVariables.memberMaterial,
  noisePubkey: ChannelOperatorVariables.material.noisePubkey,
  ...ChannelOperatorVariables.pipeline,
  ...ChannelOperatorVariables.grant,
  invitedChannel: ChannelOperatorVariables.invitation.channel,
  invitee: ChannelOperatorVariables.invitation.invitee,
  inviteDirection: ChannelOperatorVariables.invitation.direction,
  inviteRights: ChannelOperatorVariables.invitation.rights,
  inviteDelegable: ChannelOperatorVariables.invitation.isDelegable,
  inviteExpiresAt: ChannelOperatorVariables.invitation.expiresAt
}
