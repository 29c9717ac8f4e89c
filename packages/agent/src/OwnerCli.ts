/** Command definitions for a channel's owner at the control plane: registration, allow-list, members. */
import { Argument, Command, Flag } from "effect/cli"
import { group, loaded } from "./LoadedCommand.ts"

const register = Command.make(
  "register",
  {
    rekey: Flag.Boolean("rekey").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Replace the operator key, which invalidates all grants signed with the old one")
    )
  },
  loaded(async () => (await import("./commands/channelOwner.ts")).register)
).pipe(
  Command.withDescription(
    "Registers CT_CHANNEL_ID (else CT_GRANT_CHANNEL) for your account, with the operator key " +
      "CT_CHANNEL_OPERATOR_PUBKEY, else the public key of CT_CHANNEL_OPERATOR_KEY. Requires a login."
  ),
  Command.withShortDescription("Register a channel for your account"),
  Command.withExamples([{ command: "ct-agent channel register --rekey", description: "Replaces the operator key" }])
)

const email = { email: Argument.String("email") }

const allowlist = Command.make("allowlist", {}, group("ct-agent channel allowlist", "add, remove or list")).pipe(
  Command.withDescription(
    "Manages the e-mail addresses whose owners may claim a membership of your channel CT_CHANNEL_ID. Requires a " +
      "login."
  ),
  Command.withShortDescription("Manage who may claim a membership"),
  Command.withExamples([{ command: "ct-agent channel allowlist list", description: "One address on each line" }]),
  Command.withSubcommands([
    Command.make(
      "add",
      email,
      loaded(async () => (await import("./commands/channelOwner.ts")).allow)
    ).pipe(
      Command.withDescription("Allows the owner of an address to claim a membership."),
      Command.withExamples([{ command: "ct-agent channel allowlist add ada@example.org", description: "One address" }])
    ),
    Command.make(
      "remove",
      email,
      loaded(async () => (await import("./commands/channelOwner.ts")).disallow)
    ).pipe(
      Command.withDescription("Removes an address from the list."),
      Command.withExamples([
        { command: "ct-agent channel allowlist remove ada@example.org", description: "One address" }
      ])
    ),
    Command.make(
      "list",
      {},
      loaded(async () => (await import("./commands/channelOwner.ts")).allowed)
    ).pipe(
      Command.withDescription("Prints the list, one address on each line."),
      Command.withExamples([{ command: "ct-agent channel allowlist list --json", description: "For scripts" }])
    )
  ])
)

const material = {
  holder: Argument.String("holder-pubkey"),
  noise: Argument.String("noise-pubkey"),
  attestation: Argument.String("noise-attestation")
}

const members = Command.make(
  "members",
  {},
  loaded(async () => (await import("./commands/channelOwner.ts")).members)
).pipe(
  Command.withDescription(
    "Lists the members of your channel CT_CHANNEL_ID, a holder key and a Noise key on each line. Requires a login."
  ),
  Command.withShortDescription("List, add or remove members of your channel"),
  Command.withExamples([{ command: "ct-agent channel members", description: "All members" }]),
  Command.withSubcommands([
    Command.make(
      "add",
      material,
      loaded(async () => (await import("./commands/channelOwner.ts")).addMember)
    ).pipe(
      Command.withDescription(
        "Makes a holder a member, with the values that its `channel member-material` has printed."
      ),
      Command.withExamples([
        {
          command: "ct-agent channel members add db99... 2a4f... 91c0...",
          description: "Holder key, Noise key, attestation"
        }
      ])
    ),
    Command.make(
      "remove",
      { holder: Argument.String("holder-pubkey") },
      loaded(async () => (await import("./commands/channelOwner.ts")).removeMember)
    ).pipe(
      Command.withDescription("Removes a holder from the channel; its sessions end."),
      Command.withExamples([{ command: "ct-agent channel members remove db99...", description: "By its holder key" }])
    )
  ])
)

const claimInvite = Command.make(
  "claim-invite",
  {
    ...material,
    label: Flag.String("label").pipe(
      Flag.optional,
      Flag.withMetavar("TEXT"),
      Flag.withDescription("Label by which you recognise the invitation")
    )
  },
  loaded(async () => (await import("./commands/channelOwner.ts")).claimInvite)
).pipe(
  Command.withDescription(
    "Prints a URL at which a person with an account can claim the membership once, within 15 minutes."
  ),
  Command.withShortDescription("Create a URL at which a person claims a membership"),
  Command.withExamples([
    { command: "ct-agent channel claim-invite db99... 2a4f... 91c0... --label desk", description: "Can be used once" }
  ])
)

/** The subcommands of `channel` for its owner. */
export const ownerCommands = [register, allowlist, members, claimInvite] as const
