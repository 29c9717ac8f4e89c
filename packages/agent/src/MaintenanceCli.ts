/** Command definitions that keep an agent running and up to date: `service` and `update`. */
import { Command, Flag } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"
import { managers } from "./service/ServiceDefinition.ts"

export const service = Command.make(
  "service",
  {
    manager: Flag.Literals("for", managers).pipe(
      Flag.optional,
      Flag.withDescription("Service manager (default: that of this system)")
    )
  },
  loaded(async () => (await import("./commands/service.ts")).service)
).pipe(
  Command.withDescription(
    "Prints a systemd unit or a launchd property list that starts this program at boot, with the variables in the " +
      "--config file (default ./ct-agent.env). The program is restarted when it exits, except by systemd after exit " +
      "codes 2, 3 and 4, which require a change of the configuration."
  ),
  Command.withShortDescription("Print a service definition for the agent"),
  Command.withExamples([
    { command: "ct-agent service > /etc/systemd/system/ct-agent.service", description: "On Linux, as root" }
  ])
)

export const update = Command.make(
  "update",
  {
    check: Flag.Boolean("check").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Only report whether a newer release is available")
    )
  },
  loaded(async () => (await import("./commands/update.ts")).update)
).pipe(
  Command.withDescription(
    "Replaces this program with the newest release of the control plane, if that release is newer, is signed with " +
      "a pinned key, and runs on this machine. The release is verified before anything is written. The old program " +
      "is kept until the new one has registered with the edge; if it does not register within two minutes of its " +
      "first start, the old program is restored. With CT_AGENT_AUTO_UPDATE=1, a serving agent updates itself."
  ),
  Command.withShortDescription("Update this program"),
  Command.withExamples([
    { command: "ct-agent update", description: "Switches to the newest release" },
    { command: "ct-agent update --check", description: "Changes nothing" }
  ])
)
