/** The command line of those who make channels: keys, material, grants and invitations. */
import { Argument, Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

const keyOutput = {
  out: Flag.String("out").pipe(
    Flag.optional,
    Flag.withMetavar("FILE"),
    Flag.withDescription("Write the lines to this file, readable for you only, and print its path")
  ),
  force: Flag.Boolean("force").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Replace the file when it is there: its keys are lost")
  )
}

const init = Command.make(
  "init",
  keyOutput,
  loaded(
    () => import("./commands/channelInit.ts"),
    ({ init }, options) => init(options)
  )
).pipe(
  Command.withDescription(
    "Makes the two keys of a member, CT_CHANNEL_HOLDER_KEY and CT_CHANNEL_NOISE_KEY, and prints them as lines for a shell, with " +
      "their public halves as comments. Nothing is sent anywhere."
  ),
  Command.withShortDescription("Make the keys of a member"),
  Command.withExamples([{ command: "ct-agent channel init --out member.keys", description: "Into a file of yours" }])
)

const operatorInit = Command.make(
  "operator-init",
  keyOutput,
  loaded(
    () => import("./commands/channelInit.ts"),
    ({ operatorInit }, options) => operatorInit(options)
  )
).pipe(
  Command.withDescription(
    "Makes the key of an operator, CT_CHANNEL_OPERATOR_KEY, and prints it as a line for a shell."
  ),
  Command.withShortDescription("Make the key of an operator"),
  Command.withExamples([
    { command: "ct-agent channel operator-init --out operator.key", description: "Into a file of yours" }
  ])
)

const memberMaterial = Command.make(
  "member-material",
  {},
  loaded(
    () => import("./commands/membershipRequest.ts"),
    ({ memberMaterial }) => memberMaterial
  )
).pipe(
  Command.withDescription(
    "Prints what this holder shows to become a member of its link with CT_CHANNEL_BRIDGE_HOLDER under CT_CHANNEL_OPERATOR_PUBKEY: " +
      "holder_pubkey, noise_pubkey, channel_id and noise_attestation. Needs CT_CHANNEL_HOLDER_KEY and CT_CHANNEL_NOISE_PUBKEY, and " +
      "asks no network."
  ),
  Command.withShortDescription("Print what makes this holder a member of a link"),
  Command.withExamples([{ command: "ct-agent channel member-material --json", description: "For a script" }])
)

const joinPipelineRole = Command.make(
  "join-pipeline-role",
  {},
  loaded(
    () => import("./commands/membershipRequest.ts"),
    ({ joinPipelineRole }) => joinPipelineRole
  )
).pipe(
  Command.withDescription(
    "Prints what this holder shows to take the role CT_PIPELINE_ROLE of the pipeline CT_PIPELINE_ID. The channel is the same for " +
      "every holder of the role. Without CT_CHANNEL_OPERATOR_PUBKEY the operator is read from the published pipeline at " +
      "CT_AGENT_CP_URL."
  ),
  Command.withShortDescription("Print what makes this holder a member of a pipeline's role"),
  Command.withExamples([
    {
      command: "CT_PIPELINE_ID=demo CT_PIPELINE_ROLE=physics ct-agent channel join-pipeline-role",
      description: "A role"
    }
  ])
)

const bindTopology = Command.make(
  "bind-topology",
  {
    put: Flag.Boolean("put").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Bind it at the control plane as well; needs a login")
    )
  },
  loaded(
    () => import("./commands/bindTopology.ts"),
    ({ bindTopology }, options) => bindTopology(options)
  )
).pipe(
  Command.withDescription(
    "Prints operator_pubkey and proof, by which the operator of CT_CHANNEL_OPERATOR_KEY is bound to the topology CT_TOPOLOGY_ID."
  ),
  Command.withShortDescription("Prove an operator's key for a topology"),
  Command.withExamples([{ command: "ct-agent channel bind-topology --put", description: "And bind it" }])
)

const grant = Command.make(
  "grant",
  {
    interactive: Flag.Boolean("interactive").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Ask for channel, holder, direction and end, such as 30d")
    ),
    deposit: Flag.Boolean("deposit").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Leave it with the control plane as well, where the member collects it; needs a login")
    )
  },
  loaded(
    () => import("./commands/grant.ts"),
    ({ grant }, options) => grant(options)
  )
).pipe(
  Command.withDescription(
    "Signs a grant with CT_CHANNEL_OPERATOR_KEY for CT_GRANT_MEMBER_HOLDER on CT_GRANT_CHANNEL: CT_GRANT_DIRECTION until " +
      "CT_GRANT_EXPIRES, to read and write, not to be passed on. Prints it as one line of 278 hex digits, after checking it."
  ),
  Command.withShortDescription("Sign a member's grant"),
  Command.withExamples([
    { command: "ct-agent channel grant --interactive --deposit", description: "Asks, signs, deposits" }
  ])
)

const redeem = Command.make(
  "redeem",
  { invitation: Argument.String("invitation") },
  loaded(
    () => import("./commands/invitation.ts"),
    ({ redeem }, options) => redeem(options)
  )
).pipe(
  Command.withDescription(
    "Redeems a bare invitation at CT_AGENT_CP_URL: the holder of CT_CHANNEL_HOLDER_KEY becomes a member with CT_CHANNEL_NOISE_KEY."
  ),
  Command.withShortDescription("Redeem a bare invitation"),
  Command.withExamples([
    { command: "ct-agent channel redeem 5f1c...", description: "The 278 digits that you were sent" }
  ])
)

/** What stands below `channel` beside the sessions. */
export const operatorCommands = [
  init,
  operatorInit,
  memberMaterial,
  joinPipelineRole,
  bindTopology,
  grant,
  redeem
] as const
