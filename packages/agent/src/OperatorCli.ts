/** Command definitions for operators of channels: keys, membership data, grants and invitations. */
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const keyOutput = {
  out: Flag.String("out").pipe(
    Flag.optional,
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write the lines to this file, readable by you only, and print its path")
  ),
  force: Flag.Boolean("force").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Overwrite the file if it exists; the keys in it are lost")
  )
}

const init = Command.make(
  "init",
  keyOutput,
  loaded(async () => (await import("./commands/channelInit.ts")).init)
).pipe(
  Command.withDescription(
    "Generates the two keys of a member, CT_CHANNEL_HOLDER_KEY and CT_CHANNEL_NOISE_KEY, and prints them as shell " +
      "variables, with their public keys as comments. It uses no network."
  ),
  Command.withShortDescription("Generate the keys of a member"),
  Command.withExamples([
    { command: "ct-agent channel init --out member.keys", description: "Writes the keys to a file" }
  ])
)

const operatorInit = Command.make(
  "operator-init",
  keyOutput,
  loaded(async () => (await import("./commands/channelInit.ts")).operatorInit)
).pipe(
  Command.withDescription(
    "Generates the key of an operator, CT_CHANNEL_OPERATOR_KEY, and prints it as a shell variable."
  ),
  Command.withShortDescription("Generate the key of an operator"),
  Command.withExamples([
    { command: "ct-agent channel operator-init --out operator.key", description: "Writes the keys to a file" }
  ])
)

const claiming = {
  account: Flag.String("account").pipe(
    Flag.optional,
    Flag.withMetavar("SUBJECT"),
    Flag.withDescription("Also print account_proof, which lets only this account claim the membership")
  )
}

const memberMaterial = Command.make(
  "member-material",
  claiming,
  loaded(async () => (await import("./commands/membershipRequest.ts")).memberMaterial)
).pipe(
  Command.withDescription(
    "Prints the data with which this holder becomes a member of its link with CT_CHANNEL_BRIDGE_HOLDER, operated " +
      "by CT_CHANNEL_OPERATOR_PUBKEY: holder_pubkey, noise_pubkey, channel_id and noise_attestation. Requires " +
      "CT_CHANNEL_HOLDER_KEY and CT_CHANNEL_NOISE_PUBKEY; uses no network."
  ),
  Command.withShortDescription("Print the membership data of a link"),
  Command.withExamples([{ command: "ct-agent channel member-material --json", description: "For scripts" }])
)

const joinPipelineRole = Command.make(
  "join-pipeline-role",
  claiming,
  loaded(async () => (await import("./commands/membershipRequest.ts")).joinPipelineRole)
).pipe(
  Command.withDescription(
    "Prints the data with which this holder joins the role CT_PIPELINE_ROLE of the pipeline CT_PIPELINE_ID. All " +
      "holders of a role share one channel. Without CT_CHANNEL_OPERATOR_PUBKEY, the operator's key is read from the " +
      "pipeline published at CT_AGENT_CP_URL."
  ),
  Command.withShortDescription("Print the membership data of a pipeline's role"),
  Command.withExamples([
    {
      command: "CT_PIPELINE_ID=demo CT_PIPELINE_ROLE=physics ct-agent channel join-pipeline-role",
      description: "One role"
    }
  ])
)

const bindTopology = Command.make(
  "bind-topology",
  {
    put: Flag.Boolean("put").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Also bind it at the control plane; requires a login")
    )
  },
  loaded(async () => (await import("./commands/bindTopology.ts")).bindTopology)
).pipe(
  Command.withDescription(
    "Prints operator_pubkey and proof, which bind the operator of CT_CHANNEL_OPERATOR_KEY to the topology " +
      "CT_TOPOLOGY_ID."
  ),
  Command.withShortDescription("Prove an operator's key for a topology"),
  Command.withExamples([
    { command: "ct-agent channel bind-topology --put", description: "Prints the proof and binds the key" }
  ])
)

const grant = Command.make(
  "grant",
  {
    interactive: Flag.Boolean("interactive").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Prompt for channel, holder, direction and expiry, such as 30d")
    ),
    deposit: Flag.Boolean("deposit").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Also store it at the control plane, where the member collects it; requires a login")
    )
  },
  loaded(async () => (await import("./commands/grant.ts")).grant)
).pipe(
  Command.withDescription(
    "Signs a grant with CT_CHANNEL_OPERATOR_KEY for CT_GRANT_MEMBER_HOLDER on CT_GRANT_CHANNEL, with " +
      "CT_GRANT_DIRECTION and CT_GRANT_EXPIRES. The grant allows reading and writing and cannot be delegated. It is " +
      "verified and printed as one line of 278 hex digits."
  ),
  Command.withShortDescription("Sign a member's grant"),
  Command.withExamples([
    {
      command: "ct-agent channel grant --interactive --deposit",
      description: "Prompts for the values, signs and deposits"
    }
  ])
)

const redeem = Command.make(
  "redeem",
  { invitation: Argument.String("invitation") },
  loaded(async () => (await import("./commands/invitation.ts")).redeem)
).pipe(
  Command.withDescription(
    "Redeems an invitation of 278 hex digits at CT_AGENT_CP_URL: the holder of CT_CHANNEL_HOLDER_KEY becomes a " +
      "member with the Noise key CT_CHANNEL_NOISE_KEY."
  ),
  Command.withShortDescription("Redeem a signed invitation"),
  Command.withExamples([
    { command: "ct-agent channel redeem 5f1c...", description: "The 278 digits that you received" }
  ])
)

/** The subcommands of `channel` for its operator. */
export const operatorCommands = [
  init,
  operatorInit,
  memberMaterial,
  joinPipelineRole,
  bindTopology,
  grant,
  redeem
] as const
