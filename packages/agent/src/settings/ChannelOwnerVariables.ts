/** Variables of the commands that create a channel, name its members and own it, and of the bridge tools. */
import * as Parser from "@catenet/platform/Parser"
import { secretBytes } from "@catenet/platform/SecretParser"
import { asRequired, optional } from "@catenet/platform/Variable"
import * as ChannelOperatorVariables from "./ChannelOperatorVariables.ts"
import { baseUrl } from "./HostPort.ts"
import { publicKeys } from "./KeyParsers.ts"
import * as LoginVariables from "./LoginVariables.ts"
import * as MemberVariables from "./MemberVariables.ts"
import * as TunnelVariables from "./TunnelVariables.ts"

const operatorKey = Parser.described(secretBytes, { remedy: "copy the private key of the channel's operator" })
/** Of the bridge tools: the control plane, its bearer token, and the registry of services to install. */
export const bridgeVariables = {
  controlPlane: TunnelVariables.knownControlPlane,
  ...LoginVariables.variables("Bearer token of the channel's owner, for tools that call the control plane."),
  operatorKey: optional(
    "CT_CHANNEL_OPERATOR_KEY",
    operatorKey,
    "Private key of the channel's operator; signs grants and invitations."
  ),
  registry: optional("CT_MANIFEST_REGISTRY_URL", baseUrl, "Registry of the services that the bridge may install."),
  trusted: optional(
    "CT_MANIFEST_TRUST_ALLOWLIST",
    publicKeys,
    "Public keys of the publishers whose services the bridge may install.",
    { standard: "no publisher" }
  ),
  trustedFile: optional(
    "CT_MANIFEST_TRUST_ALLOWLIST_FILE",
    Parser.path,
    "File with further publisher keys, one on each line, read at every use."
  ),
  workDir: optional("CT_MANIFEST_WORK_DIR", Parser.writablePath, "Folder for services that the bridge installs.")
} as const

/** For the command that signs with it. */
const requiredOperatorKey = asRequired(bridgeVariables.operatorKey)

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
  bearer: bridgeVariables.bearer,
  bearerFile: bridgeVariables.bearerFile,
  loginFile: bridgeVariables.loginFile,
  stateDir,
  operatorKey: requiredOperatorKey
} as const

/** Of `mcp share` where it makes a channel. */
export const share = { ...LoginVariables.account, frontDoor, frontDoorCertificate } as const

/** Of the file that it makes. */
export const shared = {
  ...LoginVariables.account,
  channel: asRequired(MemberVariables.variables.channel),
  operatorKey: requiredOperatorKey,
  holderKey: ChannelOperatorVariables.material.holderKey,
  noiseKey: MemberVariables.variables.noiseKey
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
  ...LoginVariables.account,
  operatorKey: requiredOperatorKey,
  topology: ChannelOperatorVariables.topology
}

/** Of `channel grant`. */
export const grantMember = {
  ...LoginVariables.account,
  operatorKey: requiredOperatorKey,
  ...ChannelOperatorVariables.grant
}

/** Of `channel grant --interactive`, which asks for the others. */
export const grantAsked = { ...LoginVariables.account, operatorKey: requiredOperatorKey }

/** Of `channel invite` for an identity. */
export const bareInvite = { operatorKey: requiredOperatorKey, ...ChannelOperatorVariables.invitation }

/** Of `channel redeem`. */
export const redeem = {
  controlPlane,
  holderKey: ChannelOperatorVariables.material.holderKey,
  noiseKey: MemberVariables.variables.noiseKey
}

/** Of the commands of a channel's owner. */
export const ownedChannel = {
  ...LoginVariables.account,
  channel: MemberVariables.variables.channel,
  grantChannel: ChannelOperatorVariables.optionalGrantChannel
}

/** Of `channel register`. */
export const register = {
  ...ownedChannel,
  operatorPubkey: ChannelOperatorVariables.optionalOperatorPubkey,
  operatorKey: bridgeVariables.operatorKey,
  ...ChannelOperatorVariables.derivation
}

/** Of the commands for operators, as far as no other command reads them. */
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
