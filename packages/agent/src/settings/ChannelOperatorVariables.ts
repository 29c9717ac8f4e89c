/** Variables for operators of channels: keys, grants and invitations. */
import * as Parser from "@catenet/platform/Parser"
import { asRequired, defaulted, optional, required } from "@catenet/platform/Variable"
import { privateKey, publicKey } from "./KeyParsers.ts"

const directions: ReadonlyMap<string, "initiate" | "accept" | "both"> = new Map([
  ["initiate", "initiate"],
  ["initiator", "initiate"],
  ["accept", "accept"],
  ["responder", "accept"],
  ["both", "both"]
])
export const direction = Parser.make("initiate, accept or both", (text) => directions.get(text.toLowerCase()))

export const channelId = Parser.described(publicKey, { remedy: "set it to the channel, 64 hex digits" })
export const holder = Parser.described(publicKey, { remedy: "set it to the public holder key, 64 hex digits" })

/** The last second that fits a grant's layout and a number. */
const maxSeconds = BigInt(Number.MAX_SAFE_INTEGER)
export const unixSeconds = Parser.make(
  "a time in Unix seconds",
  (text) => (/^\d{1,16}$/.test(text) && BigInt(text) <= maxSeconds ? BigInt(text) : undefined),
  { example: "1893456000" }
)

const rights = { read: "r", write: "w", readwrite: "rw" } as const
const rightsWord = Parser.make("read, write or readwrite", (text) =>
  text === "read" || text === "write" || text === "readwrite" ? rights[text] : undefined
)

/** Characters of an id of the operator's. */
const longestText = 256
const text = Parser.make(`a text of at most ${longestText} characters in one line`, (given) =>
  given.length <= longestText && !/\p{Cc}/u.test(given) ? given : undefined
)

export const optionalOperatorPubkey = optional(
  "CT_CHANNEL_OPERATOR_PUBKEY",
  publicKey,
  "Public key of the channel's operator."
)
/** Of everything that a member shows of itself. */
export const material = {
  holderKey: required(
    "CT_CHANNEL_HOLDER_KEY",
    privateKey("set it to the private holder key that ct-agent channel init printed"),
    "Private key of this holder; signs its membership data."
  ),
  noisePubkey: required("CT_CHANNEL_NOISE_PUBKEY", publicKey, "Public Noise key of this member.", {
    remedy: "set it to the public Noise key that ct-agent channel init printed, 64 hex digits"
  })
}

export const memberMaterial = {
  operatorPubkey: asRequired(optionalOperatorPubkey, {
    remedy: "set it to the public key of the channel's operator, 64 hex digits"
  }),
  bridgeHolder: required("CT_CHANNEL_BRIDGE_HOLDER", holder, "Public holder key of the other member of a link.", {
    remedy: "set it to the public holder key of the other member, 64 hex digits"
  })
}

export const pipeline = {
  pipelineId: required("CT_PIPELINE_ID", text, "Pipeline that the member joins.", {
    remedy: "set it to the pipeline's id"
  }),
  pipelineRole: required("CT_PIPELINE_ROLE", text, "Role that the member joins.", {
    remedy: "set it to a role of the pipeline"
  })
}

/** What the id of a channel is derived from, for the proof that it is the operator's. */
export const derivation = {
  firstHolder: optional("CT_GRANT_MEMBER_HOLDER", holder, "Public holder key of one member of the link."),
  secondHolder: optional("CT_CHANNEL_BRIDGE_HOLDER", holder, "Public holder key of the other member of a link."),
  pipelineId: optional("CT_PIPELINE_ID", text, "Pipeline to which the channel belongs."),
  pipelineRole: optional("CT_PIPELINE_ROLE", text, "Role of the pipeline to which the channel belongs.")
}

export const topology = required("CT_TOPOLOGY_ID", text, "Topology that the operator is bound to.", {
  remedy: "set it to the id of the topology"
})

export const optionalGrantChannel = optional(
  "CT_GRANT_CHANNEL",
  channelId,
  "Channel for register and the owner's commands, if CT_CHANNEL_ID is not set."
)

export const grant = {
  channel: required(
    "CT_GRANT_CHANNEL",
    channelId,
    "Channel of the grant; used by register if CT_CHANNEL_ID is not set.",
    { remedy: "set it to the channel, 64 hex digits" }
  ),
  holder: required("CT_GRANT_MEMBER_HOLDER", holder, "Public holder key of the member.", {
    remedy: "set it to the public holder key of the member, 64 hex digits"
  }),
  direction: required(
    "CT_GRANT_DIRECTION",
    direction,
    "Whether the member may initiate or accept sessions, or both; the other member does the opposite.",
    { remedy: "set it to initiate, accept or both" }
  ),
  expiresAt: required("CT_GRANT_EXPIRES", unixSeconds, "Expiry of the grant.", {
    remedy: "set it to a time in Unix seconds, such as that of: date -d +30days +%s"
  })
}

export const invitation = {
  channel: required("CT_INVITE_CHANNEL", channelId, "Channel of a signed invitation.", {
    remedy: "set it to the channel, 64 hex digits"
  }),
  invitee: required("CT_INVITE_IDENTITY", holder, "Public key of the invited member, for a signed invitation.", {
    remedy: "set it to the public key of the invited member, 64 hex digits"
  }),
  direction: required(
    "CT_INVITE_DIRECTION",
    direction,
    "Whether the invited member may initiate or accept sessions, or both.",
    { remedy: "set it to initiate, accept or both" }
  ),
  rights: defaulted("CT_INVITE_RIGHTS", rightsWord, "readwrite", "Rights of the invited member to the stream."),
  isDelegable: optional(
    "CT_INVITE_DELEGABLE",
    Parser.make("1 or true", (given) => /^(?:1|true)$/i.test(given)),
    "Whether the invited member may pass the invitation on."
  ),
  expiresAt: required("CT_INVITE_EXPIRES", unixSeconds, "Expiry of the invitation.", {
    remedy: "set it to a time in Unix seconds"
  })
}
