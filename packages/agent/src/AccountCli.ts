/** Command definitions for a user's account: login, logout, tunnels, and addresses for local services. */
import { HostHeader } from "@catenet/domain/rules/Route"
import { TunnelHostname } from "@catenet/domain/values/Hostname"
import { Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { group, loaded } from "./LoadedCommand.ts"

const allow = Flag.String("allow").pipe(
  Flag.atLeast(0),
  Flag.withMetavar("RANGE"),
  Flag.withDescription("Let in only visitors from these addresses, such as 10.0.0.0/8; may be repeated")
)

/** Command definitions for public ports. */
const options = {
  target: Argument.String("port"),
  name: Flag.String("name").pipe(
    Flag.optional,
    Flag.withMetavar("NAME"),
    Flag.withDescription("Name of the tunnel, which is created if it does not exist (default: machine and port)")
  ),
  port: Flag.Int("port").pipe(
    Flag.optional,
    Flag.withMetavar("PORT"),
    Flag.withDescription("Public port to ask for (default: one is allotted)")
  ),
  allow,
  rm: Flag.Boolean("rm").pipe(Flag.withDefault(false), Flag.withDescription("Delete the tunnel when the command ends"))
}

/** A host name of the account's own. */
const host = Flag.String("host").pipe(
  Flag.optional,
  Flag.withSchema(Schema.Option(TunnelHostname)),
  Flag.withMetavar("HOST"),
  Flag.withDescription("A host name of yours (default: the platform assigns one)")
)

export const tcp = Command.make(
  "tcp",
  {
    ...options,
    tls: Flag.Boolean("tls").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Visitors connect by TLS to a host name instead of to a port; the edge ends TLS")
    ),
    host: host.pipe(Flag.withDescription("With --tls: a host name in the platform's zone (default: one is assigned)"))
  },
  loaded(async () => (await import("./commands/port.ts")).tcp)
).pipe(
  Command.withDescription(
    "Gives a local TCP service a public port: serves a tunnel of your account and prints its address on stdout. " +
      "Requires a login (ct-agent login), and an edge that offers ports, unless you give --tls. Instead of a port you can give host:port. " +
      "Visitors' bytes reach the service as they are; nothing asks them for a login. Ctrl-C stops it; the next run " +
      "serves the same port, unless you give --rm."
  ),
  Command.withShortDescription("Give a local TCP service a public port"),
  Command.withExamples([
    { command: "ct-agent tcp 22", description: "SSH of this machine" },
    { command: "ct-agent tcp 10.0.0.5:5432 --name db --port 20432", description: "A database beside it" },
    { command: "ct-agent tcp 5432 --tls", description: "PostgreSQL by TLS, at port 443 of a host name" }
  ])
)

export const udp = Command.make(
  "udp",
  options,
  loaded(async () => (await import("./commands/port.ts")).udp)
).pipe(
  Command.withDescription(
    "Gives a local UDP service a public port, as ct-agent tcp does for TCP. Each client has a session, which ends " +
      "after a minute without a datagram. After its first datagram, a client address gets at most as many bytes " +
      "as it has sent; from its second datagram on, answers are not limited."
  ),
  Command.withShortDescription("Give a local UDP service a public port"),
  Command.withExamples([{ command: "ct-agent udp 27015 --name game", description: "A game server" }])
)

export const login = Command.make(
  "login",
  { controlPlane: Argument.String("control-plane").pipe(Argument.optional) },
  loaded(async () => (await import("./commands/login.ts")).login)
).pipe(
  Command.withDescription(
    "Prints an address and a code to confirm in a browser on any machine, and stores the login so that only this " +
      "user can read it. The identity provider is CT_OIDC_ISSUER or, if that is not set, the one that the control " +
      "plane (the given address, else CT_AGENT_CP_URL) names. The login is stored in CT_AGENT_LOGIN_TOKEN_FILE, else " +
      "in CT_AGENT_STATE_DIR if set, else in ~/.ct-agent/oidc-token.json. Interrupting login keeps your previous " +
      "session."
  ),
  Command.withShortDescription("Log in with a browser on any machine"),
  Command.withExamples([
    { command: "ct-agent login https://portal.example.org", description: "Needed once per machine" }
  ])
)

export const logout = Command.make(
  "logout",
  {},
  loaded(async () => (await import("./commands/logout.ts")).logout)
).pipe(
  Command.withDescription("Ends the stored login at the identity provider and deletes it from this machine."),
  Command.withShortDescription("Log out and delete the stored login"),
  Command.withExamples([{ command: "ct-agent logout", description: "Before you give the machine away" }])
)

export const whoami = Command.make(
  "whoami",
  {},
  loaded(async () => (await import("./commands/whoami.ts")).whoami)
).pipe(
  Command.withDescription(
    "Prints the account of the bearer token (CT_OIDC_TOKEN, else CT_OIDC_TOKEN_FILE, else the stored login) and " +
      "where the token comes from. Exit codes: 3 no token, 4 token refused, 5 control plane or identity provider " +
      "unreachable."
  ),
  Command.withShortDescription("Show the account you are logged in to"),
  Command.withExamples([{ command: "ct-agent whoami --json", description: "For scripts" }])
)

export const tunnels = Command.make(
  "tunnels",
  {},
  loaded(async () => (await import("./commands/tunnel.ts")).tunnels)
).pipe(
  Command.withDescription("Lists your tunnels and those shared with you: id, state, name, host name."),
  Command.withShortDescription("List your tunnels"),
  Command.withExamples([{ command: "ct-agent tunnels --json", description: "With all details" }])
)

export const exported = Command.make(
  "export",
  {},
  loaded(async () => (await import("./commands/export.ts")).exported)
).pipe(
  Command.withDescription(
    "Prints a file of services (ct-agent.yaml) with the tunnels of your account. The local service of a tunnel is known " +
      "if ct-agent http served it on this machine; the others are left to fill in, and ct-agent check names them. If " +
      "--config names a file of services, its text is kept, and what it lacks is added. The file holds no secrets."
  ),
  Command.withShortDescription("Write the file of services from your account"),
  Command.withExamples([
    { command: "ct-agent export > ct-agent.yaml", description: "From single commands to one file" },
    { command: "ct-agent export --config ct-agent.yaml", description: "The file with what it lacks" }
  ])
)

const create = Command.make(
  "create",
  { name: Argument.String("name") },
  loaded(async () => (await import("./commands/tunnel.ts")).create)
).pipe(
  Command.withDescription("Creates a tunnel and prints its id and host name."),
  Command.withShortDescription("Create a tunnel"),
  Command.withExamples([{ command: "ct-agent tunnel create camera", description: "Its host name begins with camera-" }])
)

const remove = Command.make(
  "delete",
  { tunnel: Argument.String("tunnel") },
  loaded(async () => (await import("./commands/tunnel.ts")).remove)
).pipe(
  Command.withDescription("Deletes one of your tunnels, given by id, host name or name."),
  Command.withShortDescription("Delete a tunnel"),
  Command.withExamples([
    { command: "ct-agent tunnel delete camera", description: "The host name becomes available again" }
  ])
)

export const tunnel = Command.make("tunnel", {}, group("ct-agent tunnel", "create or delete")).pipe(
  Command.withDescription("Creates and deletes tunnels. To serve one, see ct-agent http."),
  Command.withShortDescription("Create or delete a tunnel"),
  Command.withExamples([{ command: "ct-agent tunnel create camera", description: "See also ct-agent tunnels" }]),
  Command.withSubcommands([create, remove])
)

export const commonFlags = {
  name: Flag.String("name").pipe(
    Flag.optional,
    Flag.withMetavar("NAME"),
    Flag.withDescription("Name of the tunnel, which is created if it does not exist (default: machine and port)")
  ),
  host,
  login: Flag.Boolean("login").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Let in only visitors who log in and are on the tunnel's list")
  ),
  allow,
  basicAuth: Flag.String("basic-auth").pipe(
    Flag.atLeast(0),
    Flag.withMetavar("NAME"),
    Flag.withDescription("Ask visitors for this name and a password, which you type (or NAME:HASH); may be repeated")
  ),
  rule: Flag.String("rule").pipe(
    Flag.atLeast(0),
    Flag.withMetavar("RULE"),
    Flag.withDescription("A rule as in the file of services, such as 'max_body: 1 MiB'; may be repeated")
  ),
  controlPlane: Flag.String("control-plane").pipe(
    Flag.optional,
    Flag.withMetavar("URL"),
    Flag.withDescription("Base URL of the control plane (default: CT_AGENT_CP_URL, then that of the login)")
  ),
  inspect: Flag.Boolean("inspect").pipe(
    Flag.optional,
    Flag.withDescription("Show requests and responses at http://127.0.0.1:4040 (default: on a terminal only)")
  ),
  rm: Flag.Boolean("rm").pipe(Flag.withDefault(false), Flag.withDescription("Delete the tunnel when the command ends")),
  qr: Flag.Boolean("qr").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Show the QR code even if stdout or stderr is not a terminal")
  )
}

const exposeFlags = {
  target: Argument.String("port"),
  ...commonFlags,
  hostHeader: Flag.String("host-header").pipe(
    Flag.optional,
    Flag.withSchema(Schema.Option(HostHeader)),
    Flag.withMetavar("NAME"),
    Flag.withDescription(
      "Host header for the service: origin for its own address, keep for the visitor's, or a name (default: origin if the " +
        "service is on this machine, else keep)"
    )
  ),
  ca: Flag.String("ca").pipe(
    Flag.optional,
    Flag.withMetavar("FILE"),
    Flag.withDescription("For https://: PEM file with the authorities of the service's certificate")
  ),
  insecure: Flag.Boolean("insecure").pipe(
    Flag.withDefault(false),
    Flag.withDescription("For https://: accept any certificate of the service")
  )
}

const exposing = (name: string) =>
  Command.make(
    name,
    exposeFlags,
    loaded(async () => (await import("./commands/expose.ts")).expose)
  )

export const http = exposing("http").pipe(
  Command.withDescription(
    "Gives a local HTTP service a public address: serves a tunnel of your account, prints its address on stdout and, in " +
      "a terminal, a QR code for phones, a running count of requests and the address of the inspector. Requires a login (ct-agent login). Instead " +
      "of a port you can give host:port, https://host:port, h2c://host:port for gRPC without TLS, or unix:/path. Ctrl-C stops it; the next run serves the same " +
      "address, unless you give --rm."
  ),
  Command.withShortDescription("Give a local HTTP service a public address"),
  Command.withExamples([
    { command: "ct-agent http 3000", description: "The service on port 3000 of this machine" },
    { command: "ct-agent http 3000 --login", description: "For people on the tunnel's list only" },
    {
      command: "ct-agent http 3000 --basic-auth ada --allow 192.0.2.0/24",
      description: "With a password, from one network"
    },
    { command: "ct-agent http https://localhost:8443 --insecure", description: "One with TLS of its own making" },
    { command: "ct-agent http 192.168.1.20:80 --name camera --rm", description: "Another device, temporarily" }
  ])
)

export const expose = exposing("expose").pipe(
  Command.withDescription("The former name of ct-agent http, with the same flags."),
  Command.withShortDescription("Same as http"),
  Command.withExamples([{ command: "ct-agent expose 3000", description: "Same as ct-agent http 3000" }])
)

export const files = Command.make(
  "files",
  {
    folder: Argument.String("folder"),
    ...commonFlags,
    listing: Flag.Boolean("listing").pipe(
      Flag.withDefault(false),
      Flag.withDescription("List folders that have no index.html")
    )
  },
  loaded(async () => (await import("./commands/expose.ts")).files)
).pipe(
  Command.withDescription(
    "Gives a folder of this machine a public address, as ct-agent http does for a service. index.html stands for its " +
      "folder. Hidden files are not shown, except below .well-known, nor is what links lead to outside of the folder."
  ),
  Command.withShortDescription("Give a folder a public address"),
  Command.withExamples([
    { command: "ct-agent files ./public", description: "A static site" },
    { command: "ct-agent files ~/Downloads --listing --login --rm", description: "For people on the list, temporarily" }
  ])
)
