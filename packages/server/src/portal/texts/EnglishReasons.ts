/** Why a field of a form was refused, in English. */
import { maxChannelLabel, maxRoomHolders, minRoomHolders } from "@catenet/domain/channels/Channel"
import { maxInviteLabel } from "@catenet/domain/channels/ClaimInvite"
import { maxExpiryHours } from "@catenet/domain/edges/AccessPolicy"
import { maxServiceAccountName } from "@catenet/domain/identity/ServiceAccount"
import { maxSuggestBudget, maxTopologyName } from "@catenet/domain/topologies/Topology"
import { maxReceiverLength, maxThresholdMinutes } from "@catenet/domain/tunnels/Alert"
import { maxShareLabel } from "@catenet/domain/tunnels/ShareLink"
import { maxTunnelName } from "@catenet/domain/tunnels/Tunnel"
import { maxManifestLocation, maxProjectName, maxPerAccount } from "@catenet/domain/values/Quotas"
import type { TextsOf } from "./TextsOf.ts"

export const reasonsTexts = {
  formRefused: "Nothing was changed. The marked fields say why.",
  reasonUnknown: "This value is not accepted.",
  reasons: {
    name: `Give a name of 1 to ${maxTunnelName} characters, without control characters.`,
    hostname: "Give a host name such as www.example.org.",
    webhook_url: `Give an https address of at most ${maxReceiverLength} characters, without user name and password.`,
    threshold_minutes: `Give a whole number from 1 to ${maxThresholdMinutes}.`,
    token: "Give the token that the receiver takes: printable ASCII without blanks.",
    expiry_mode: "Choose never, a moment or hours.",
    expires_at: "Give a date and time that is to come, such as 2027-01-31T18:00.",
    expires_in_hours: `Give a whole number from 1 to ${maxExpiryHours}.`,
    day0: "Choose one day or more.",
    start: "Give a time from 00:00 to 23:59.",
    end: "Give a time after the start, at most 24:00.",
    time_zone: "Give a name of the time zone database, such as Europe/Berlin.",
    tz_offset: "Choose one of the offsets.",
    ttl: "Choose 1 hour, 24 hours or 7 days (ttl).",
    label: `Give at most ${maxShareLabel} characters.`,
    email: "Give an e-mail address.",
    grantee: "Give the subject of an account.",
    mode: "Choose one of the modes.",
    subject: "Give the subject of an account.",
    what: "Choose tunnels or channels.",
    max: `Give a whole number from 0 to ${maxPerAccount}.`,
    manifest_location: `Give an https address of at most ${maxManifestLocation} characters.`,
    project_name: `Give a name of 1 to ${maxProjectName} characters, without control characters.`,
    tool: "Choose one of the tools.",
    arguments: "Give JSON, or nothing.",
    grant_hex: "Give a grant of 278 hex digits.",
    credits: "Give a whole number of credits.",
    operator_pubkey: "Give an Ed25519 public key of 64 hex digits.",
    channel: "Give 64 hex digits.",
    channel_id: "Give 64 hex digits.",
    holder: "Give an Ed25519 public key of 64 hex digits.",
    holders: `Give ${minRoomHolders} to ${maxRoomHolders} public keys of 64 hex digits.`,
    noise_pubkey: "Give an X25519 public key of 64 hex digits.",
    account_proof: "Give a signature of 128 hex digits, or leave it empty.",
    noise_attestation: "Give a signature of 128 hex digits.",
    grant: "Give a grant of 278 hex digits.",
    a: "Choose an agent.",
    b: "Choose another agent.",
    agent: "Give an Ed25519 public key of 64 hex digits.",
    proof: "Give the signature that the line prints: 128 hex digits.",
    shortcut_budget: `Give a whole number from 0 to ${maxSuggestBudget}.`,
    links: "Give in each line two agents of the topology and a whole number, or nothing at all.",
    confirm_rekey: "Tick the box: all grants end.",
    "deregister confirm": "Tick the box: all of it is removed.",
    "topology confirm": "Tick the box: the topology is deleted.",
    "service name": `Give a name of 1 to ${maxServiceAccountName} characters, without control characters.`,
    "mail enabled": "Your account has no verified e-mail address. Verify one where you sign in, and sign in again.",
    "register label": `Give at most ${maxChannelLabel} characters, or leave it empty.`,
    "label label": `Give at most ${maxChannelLabel} characters, or leave it empty.`,
    "topology name": `Give at most ${maxTopologyName} characters, or leave it empty.`,
    "name name": `Give at most ${maxTopologyName} characters, or leave it empty.`,
    "invite label": `Give at most ${maxInviteLabel} characters.`,
    confirm: "Nothing was deleted. Type DELETE in capital letters."
  }
}

export type ReasonTexts = TextsOf<typeof reasonsTexts>
