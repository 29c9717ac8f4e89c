/** The command line of a user's own account: the login, and what is done with it. */
import { Argument, Command, Flag } from "effect/cli"
import { group, loaded } from "./LoadedCommand.ts"

export const login = Command.make(
  "login",
  { controlPlane: Argument.String("control-plane").pipe(Argument.optional) },
  loaded(
    () => import("./commands/login.ts"),
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
    () => import("./commands/logout.ts"),
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
    () => import("./commands/whoami.ts"),
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

export const tunnels = Command.make(
  "tunnels",
  {},
  loaded(
    () => import("./commands/tunnel.ts"),
    ({ tunnels }) => tunnels
  )
).pipe(
  Command.withDescription("Prints your tunnels and those that are shared with you: id, state, name, host name."),
  Command.withShortDescription("List your tunnels"),
  Command.withExamples([{ command: "ct-agent tunnels --json", description: "Everything that is known of them" }])
)

const create = Command.make(
  "create",
  { name: Argument.String("name") },
  loaded(
    () => import("./commands/tunnel.ts"),
    ({ create }, options) => create(options)
  )
).pipe(
  Command.withDescription("Makes a tunnel and prints its id and the host name that it got."),
  Command.withShortDescription("Make a tunnel"),
  Command.withExamples([{ command: "ct-agent tunnel create camera", description: "Its host name begins with camera-" }])
)

const remove = Command.make(
  "delete",
  { tunnel: Argument.String("tunnel") },
  loaded(
    () => import("./commands/tunnel.ts"),
    ({ remove }, options) => remove(options)
  )
).pipe(
  Command.withDescription("Deletes one of your tunnels, named by its id, its host name or its name."),
  Command.withShortDescription("Delete a tunnel"),
  Command.withExamples([{ command: "ct-agent tunnel delete camera", description: "The host name is free again" }])
)

export const tunnel = Command.make("tunnel", {}, group("ct-agent tunnel", "create or delete")).pipe(
  Command.withDescription("Makes and deletes tunnels. To serve one, see ct-agent expose."),
  Command.withShortDescription("Make or delete a tunnel"),
  Command.withExamples([{ command: "ct-agent tunnel create camera", description: "See ct-agent tunnels for all" }]),
  Command.withSubcommands([create, remove])
)

export const expose = Command.make(
  "expose",
  {
    target: Argument.String("port"),
    name: Flag.String("name").pipe(
      Flag.optional,
      Flag.withMetavar("NAME"),
      Flag.withDescription(
        "The tunnel; without it one of this machine and port. It is made when you have none of that name"
      )
    ),
    rm: Flag.Boolean("rm").pipe(Flag.withDefault(false), Flag.withDescription("Delete the tunnel at the end")),
    qr: Flag.Boolean("qr").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Show the QR code also where stdout or stderr is no terminal")
    )
  },
  loaded(
    () => import("./commands/expose.ts"),
    ({ expose }, options) => expose(options)
  )
).pipe(
  Command.withDescription(
    "Gives a local service a public address: serves a tunnel of yours, prints its address on stdout and, on a terminal, a QR " +
      "code for phones and a line that counts requests while they come. Needs a login (ct-agent login). The port may be " +
      "host:port. Ctrl-C ends it; the address is kept for the next time, unless --rm is given."
  ),
  Command.withShortDescription("Give a local service a public address"),
  Command.withExamples([
    { command: "ct-agent expose 3000", description: "What listens on port 3000 of this machine" },
    { command: "ct-agent expose 192.168.1.20:80 --name camera --rm", description: "Another device, for this time" }
  ])
)
