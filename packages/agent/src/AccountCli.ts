/** The command line of a user's own account: the login, and what is done with it. */
import { Argument, Command } from "effect/cli"
import { loaded } from "./LoadedCommand.ts"

export const login = Command.make(
  "login",
  { controlPlane: Argument.String("control-plane").pipe(Argument.optional) },
  loaded(
    () => import("./commands/Login.ts"),
    ({ login }, options) => login(options)
  )
).pipe(
  Command.withDescription(
    "Shows an address and a code, which you confirm in a browser on any machine, and stores the login for this user only. The " +
      "identity provider is that of the control plane (the address, else CT_AGENT_CP_URL), or CT_OIDC_ISSUER. The login is in " +
      "CT_AGENT_LOGIN_TOKEN_FILE, else in CT_AGENT_STATE_DIR when that is set, else in ~/.ct-agent/oidc-token.json. A login of " +
      "before stays good until the new one is stored."
  ),
  Command.withShortDescription("Log in, by a browser on any machine"),
  Command.withExamples([{ command: "ct-agent login https://portal.example.org", description: "Once for each machine" }])
)

export const logout = Command.make(
  "logout",
  {},
  loaded(
    () => import("./commands/Logout.ts"),
    ({ logout }) => logout
  )
).pipe(
  Command.withDescription("Ends the stored login at the identity provider and removes it from this machine."),
  Command.withShortDescription("Remove the stored login"),
  Command.withExamples([{ command: "ct-agent logout", description: "Before giving the machine away" }])
)

export const whoami = Command.make(
  "whoami",
  {},
  loaded(
    () => import("./commands/Whoami.ts"),
    ({ whoami }) => whoami
  )
).pipe(
  Command.withDescription(
    "Prints the account of the bearer token (CT_OIDC_TOKEN, else CT_OIDC_TOKEN_FILE, else the stored login) as the control plane " +
      "knows it, and where the token comes from. Exit codes: 3 there is no token, 4 it is refused, 5 the control plane or the " +
      "identity provider cannot be reached."
  ),
  Command.withShortDescription("Show whose login this is"),
  Command.withExamples([{ command: "ct-agent whoami --json", description: "For a script" }])
)
