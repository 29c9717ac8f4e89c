/** Variables of `pipeline match` and `pipeline run`: the pipeline, the grants for its roles, and the addresses of the edge. */
import * as Grant from "@catenet/crypto/Grant"
import * as Parser from "@catenet/platform/Parser"
import { defaulted, required } from "@catenet/platform/Variable"
import { Redacted, Result } from "effect"
import * as ChannelOperatorVariables from "./ChannelOperatorVariables.ts"
import * as MemberVariables from "./MemberVariables.ts"
import { variables as tunnel } from "./TunnelVariables.ts"

/** A pipeline has at most this many roles. */
const maxGrants = 64

const grants = Parser.make(
  `1 to ${maxGrants} grants of 278 hex digits, one per line or separated by commas`,
  (text) => {
    const lines = text.split(/[\n,;]/u).map((line) => line.trim())
    const read = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => Grant.fromHex(line))
    if (read.length === 0 || read.length > maxGrants || !read.every(Result.isSuccess)) return undefined
    return read.map(({ success }) => Redacted.make(success))
  },
  { isSecret: true }
)

const pipelineGrants = required(
  "CT_PIPELINE_GRANTS",
  grants,
  "Grants of this holder for the channels of a pipeline's roles, for `ct-agent pipeline`.",
  { remedy: "set CT_PIPELINE_GRANTS_FILE to a file with the grants that the pipeline's operator has issued" }
)

const pipelineWaitSecs = defaulted(
  "CT_PIPELINE_WAIT_SECS",
  Parser.whole(1, 3600),
  "5",
  "Seconds that `ct-agent pipeline` waits for another provider of a role."
)

/** Variables that no other command reads. */
export const own = { pipelineGrants, pipelineWaitSecs }

const { broker, frontDoor, frontDoorCertificate, frontDoorOnly, noiseKey, relay, webSocket } = MemberVariables.variables

export const variables = {
  pipelineId: ChannelOperatorVariables.pipeline.pipelineId,
  ...own,
  controlPlane: tunnel.controlPlane,
  operatorPubkey: ChannelOperatorVariables.optionalOperatorPubkey,
  holderKey: ChannelOperatorVariables.material.holderKey,
  noiseKey,
  broker,
  relay,
  frontDoor,
  frontDoorCertificate,
  frontDoorOnly,
  webSocket,
  stateDir: tunnel.stateDir
} as const
