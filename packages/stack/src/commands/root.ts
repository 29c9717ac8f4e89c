/** The command that all others hang below, and the flags that they share. */
import { Command, Flag } from "effect/cli"

export const root = Command.make("catenet").pipe(
  Command.withSharedFlags({
    logFormat: Flag.Literals("log-format", ["text", "json"]).pipe(
      Flag.withDescription("Format of log lines on standard error"),
      Flag.withDefault("text" as const)
    )
  }),
  Command.withDescription(
    "Runs the platform: tunnels give services behind NAT a public HTTPS name, channels let agents call each other.\n" +
      "Everything is configured with CT_* variables; `docs/operations.md` lists them. Exit codes: 2 usage, 3 configuration."
  )
)
