/** The command line: flags and help of each command, and the file with its body. */
import * as Documentation from "@catenet/platform/Documentation"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect } from "effect"
import { Argument, CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import { exported, expose, files, http, login, logout, tcp, tunnel, tunnels, udp, whoami } from "./AccountCli.ts"
import { channel, relayNode } from "./ChannelCli.ts"
import { argumentsOf } from "./commands/help.ts"
import * as Flags from "./Flags.ts"
import { inspect, inspecting } from "./InspectCli.ts"
import { loaded } from "./LoadedCommand.ts"
import * as MaintenanceCli from "./MaintenanceCli.ts"
import * as MarketCli from "./MarketCli.ts"
import { mcp } from "./McpCli.ts"
import * as Variables from "./settings/Variables.ts"
import * as LineWrap from "./terminal/LineWrap.ts"
import { version } from "./Version.ts"

const root = Command.make(
  "ct-agent",
  inspecting,
  loaded(async () => (await import("./commands/serve.ts")).serve(false))
).pipe(
  Command.withDescription(
    "Forwards the visitors of public host names to local services.\n\n" +
      "Without a command, ct-agent serves the tunnel that its variables describe, or all services of the file that " +
      "--config names. If CT_AGENT_JOIN_TOKEN or CT_BOOTSTRAP is set, it first enrolls, once.\n\n" +
      "Exit codes: 0 stopped by a signal, 2 wrong usage, 3 wrong configuration, 4 refused by the control plane or " +
      "the edge, 5 control plane or edge unreachable.\n\n" +
      `The most important variables (ct-agent help variables lists all):\n${Documentation.help(Variables.first)}`
  ),
  Command.withExamples([
    { command: "ct-agent http 3000", description: "Give a local service a public address" },
    { command: "ct-agent --config ct-agent.yaml", description: "Serve all services of this file" },
    { command: "ct-agent --config /etc/catenet/ct-agent.env", description: "Serve with the variables in this file" }
  ])
)

const help = Command.make(
  "help",
  {},
  loaded(async () => (await import("./commands/help.ts")).variables)
).pipe(
  Command.withDescription("Lists all variables. For a command, see ct-agent COMMAND --help."),
  Command.withShortDescription("List all variables"),
  Command.withExamples([{ command: "ct-agent help variables", description: "All variables with their defaults" }]),
  Command.withSubcommands([
    Command.make(
      "variables",
      {},
      loaded(async () => (await import("./commands/help.ts")).variables)
    ).pipe(
      Command.withDescription("Lists every variable that a command of this program reads, with its form and default."),
      Command.withShortDescription("List all variables"),
      Command.withExamples([
        { command: "ct-agent help variables | grep CT_ACME", description: "Variables of one topic" }
      ])
    )
  ])
)

const onboard = Command.make(
  "onboard",
  inspecting,
  loaded(async () => (await import("./commands/serve.ts")).serve(true))
).pipe(
  Command.withDescription(
    "Enrolls with CT_AGENT_JOIN_TOKEN or CT_BOOTSTRAP, then serves. An agent that is already enrolled loads its " +
      "identity from CT_AGENT_STATE_DIR and redeems nothing."
  ),
  Command.withShortDescription("Enroll once, then serve"),
  Command.withExamples([
    { command: "CT_BOOTSTRAP=... ct-agent onboard", description: "With the token from the install page" }
  ])
)

const status = Command.make(
  "status",
  {},
  loaded(async () => (await import("./commands/status.ts")).status)
).pipe(
  Command.withDescription(
    "Shows the status of the running agent at CT_AGENT_METRICS_LISTEN. Without that variable it shows the last 20 " +
      "events stored in CT_AGENT_STATE_DIR. With a file of services, it lists them with their states, addresses and " +
      "requests, as far as the file sets status_listen."
  ),
  Command.withShortDescription("Show the agent's status"),
  Command.withExamples([{ command: "ct-agent status --json", description: "For scripts" }])
)

const check = Command.make(
  "check",
  {
    file: Argument.String("file").pipe(Argument.withDescription("File of services: ct-agent.yaml, .yml or .json"))
  },
  loaded(async () => (await import("./commands/check.ts")).check)
).pipe(
  Command.withDescription(
    "Checks a file of services without starting anything, and lists its services. Every problem is reported with its " +
      "line and column; exit code 3."
  ),
  Command.withShortDescription("Check a file of services"),
  Command.withExamples([{ command: "ct-agent check ct-agent.yaml", description: "Before a reload" }])
)

const reload = Command.make(
  "reload",
  {},
  loaded(async () => (await import("./commands/reload.ts")).reload)
).pipe(
  Command.withDescription(
    "Checks the file of services and has the agent that serves it apply the changes, as SIGHUP does. Services that did " +
      "not change are not interrupted, and visits of the others finish. A file with problems changes nothing; exit code 3."
  ),
  Command.withShortDescription("Apply changes of the file of services"),
  Command.withExamples([{ command: "ct-agent reload --config ct-agent.yaml", description: "After an edit" }])
)

const rotate = Command.make(
  "rotate",
  {},
  loaded(async () => (await import("./commands/rotate.ts")).rotate)
).pipe(
  Command.withDescription(
    "Generates a new origin key (CT_AGENT_ORIGIN_KEY) and capability (CT_AGENT_CAPABILITY_OUT) for a mesh tunnel, " +
      "and moves the old key to CT_AGENT_ORIGIN_KEY_DIR, so that the agent still accepts it. Restart the agent " +
      "afterwards."
  ),
  Command.withShortDescription("Replace the origin key of a mesh tunnel"),
  Command.withExamples([
    { command: "ct-agent rotate --config db.env", description: "For the agent configured in this file" }
  ])
)

const certificate = Command.make(
  "certificate",
  {
    watch: Flag.Boolean("watch").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Keep running and renew the certificate when it is due")
    )
  },
  loaded(async () => (await import("./commands/certificate.ts")).certificate)
).pipe(
  Command.withDescription(
    "Orders a certificate for CT_AGENT_HOSTNAME into CT_ACME_CERT_OUT_DIR, or renews it when a third of its " +
      "lifetime is left or its authority suggests it. An agent that serves with CT_ACME_CERT_OUT_DIR does this " +
      "without the command. The control plane decides when to order and from which authority. With " +
      "CT_ACME_DIRECTORY_URL, your own authority issues the certificate, and visitors must trust its root. Exit " +
      "codes: 0 done or not due, 4 refused, or not this name's turn yet, 5 unreachable."
  ),
  Command.withShortDescription("Order or renew the certificate of the host name"),
  Command.withExamples([
    { command: "ct-agent certificate --watch", description: "Keep the certificate valid without a serving agent" }
  ])
)

const topologyProof = Command.make(
  "topology-proof",
  {},
  loaded(async () => (await import("./commands/topologyProof.ts")).topologyProof)
).pipe(
  Command.withDescription(
    "Signs, with CT_CHANNEL_HOLDER_KEY, that the account CT_TOPOLOGY_ACCOUNT may place this agent in the topology " +
      "CT_TOPOLOGY_ID, and prints the public key and the signature. With --json it prints the body of POST " +
      "/me/topologies/:id/agents. A placement with the signature takes the agent over from an account that placed " +
      "it without one."
  ),
  Command.withShortDescription("Authorize an account to place this agent in a topology"),
  Command.withExamples([{ command: "ct-agent topology-proof --json", description: "The body of the request" }])
)

const connect = Command.make(
  "connect",
  {
    capability: Flag.String("capability").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Capability file written by the agent of the tunnel")
    ),
    listen: Flag.String("listen").pipe(
      Flag.optional,
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Local address to listen on; connections are forwarded to the origin")
    ),
    udp: Flag.Boolean("udp").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Forward datagrams; the agent must have CT_AGENT_ORIGIN_PROTO=udp")
    ),
    stdio: Flag.Boolean("stdio").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Connect stdin and stdout to the origin, for an ssh ProxyCommand")
    ),
    viaEdge: Flag.Boolean("via-edge").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Do not use a direct path to the agent, even if it offers one")
    ),
    ca: Flag.String("ca").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        "Root certificate of the edge, PEM or DER (default: CT_AGENT_EDGE_CERT, then CT_AGENT_CP_URL/pki/ca)"
      )
    )
  },
  loaded(async () => (await import("./commands/connect.ts")).connect)
).pipe(
  Command.withDescription(
    "Connects local clients to the origin of a mesh tunnel, encrypted end to end. Each connection has its own " +
      "session; opening a session is retried for ten seconds. If the agent offers a reachable direct address " +
      "(CT_AGENT_DIRECT_ADVERTISE), sessions bypass the edge."
  ),
  Command.withShortDescription("Connect to a mesh tunnel as a client"),
  Command.withExamples([
    { command: "ct-agent connect --capability db.bin --listen 127.0.0.1:5432", description: "A database behind NAT" },
    { command: "ssh -o ProxyCommand='ct-agent connect --capability pi.bin --stdio' pi", description: "ssh" }
  ])
)

const doctor = Command.make(
  "doctor",
  {},
  loaded(async () => (await import("./commands/doctor.ts")).doctor)
).pipe(
  Command.withDescription(
    "Checks everything a serving agent depends on: the control plane's name, port and response; the enrollment; the " +
      "edge's root certificate, name, port, TLS and whether it accepts the token; the public host name; the origin; " +
      "and the certificate. Exits with the code of the first failure. It serves no visitors and redeems no token."
  ),
  Command.withShortDescription("Diagnose problems and suggest remedies"),
  Command.withExamples([
    { command: "ct-agent doctor --config shop.env", description: "For the agent configured in this file" }
  ])
)

const init = Command.make(
  "init",
  {},
  loaded(async () => (await import("./commands/init.ts")).init)
).pipe(
  Command.withDescription(
    "Asks for the settings of an agent and writes them to the --config file (default ./ct-agent.env), readable by " +
      "you only. Answers can also be given line by line on stdin. If the file ends in .yaml or .yml, it writes a commented " +
      "file of services instead and asks nothing."
  ),
  Command.withShortDescription("Create the configuration file"),
  Command.withExamples([
    { command: "ct-agent init --config shop.env", description: "Asks, and writes this file" },
    { command: "ct-agent init --config ct-agent.yaml", description: "A file of many services, to be edited" }
  ])
)

export const program = root.pipe(
  Command.withSubcommands([
    http,
    expose,
    files,
    tcp,
    udp,
    inspect,
    login,
    logout,
    whoami,
    tunnels,
    tunnel,
    init,
    check,
    exported,
    reload,
    onboard,
    status,
    doctor,
    MaintenanceCli.service,
    MaintenanceCli.update,
    certificate,
    rotate,
    topologyProof,
    connect,
    channel,
    mcp,
    MarketCli.offer,
    MarketCli.pipeline,
    relayNode,
    help
  ]),
  Command.withGlobalFlags([Flags.Version, Flags.ConfigFile, Flags.Json])
)

/** The program with these arguments. Fails with a `CliError` on wrong usage, else with a `Failure`. */
export const runWith = (args: ReadonlyArray<string>) =>
  Command.runWith(program, { version, renderErrors: true })(argumentsOf(program, args)).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provide(LineWrap.layer),
    Effect.provide(CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Completions, GlobalFlag.LogLevel] })),
    // An empty variable is not the same as an unset one: some variables refuse it.
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true })))
  )

/** The whole program. */
export const run = Effect.suspend(() => runWith(process.argv.slice(2)))
