/** The command line: each command's flags and help, and the file that holds its body. */
import * as Documentation from "@catenet/platform/Documentation"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect } from "effect"
import { CliConfig, Command, Flag, GlobalFlag } from "effect/cli"
import { expose, login, logout, tunnel, tunnels, whoami } from "./AccountCli.ts"
import { channel, relayNode } from "./ChannelCli.ts"
import * as Flags from "./Flags.ts"
import { argumentsOf } from "./HelpRequest.ts"
import { loaded } from "./LoadedCommand.ts"
import * as MaintenanceCli from "./MaintenanceCli.ts"
import * as MarketCli from "./MarketCli.ts"
import * as Variables from "./settings/Variables.ts"
import * as UsageFormatter from "./terminal/UsageFormatter.ts"
import { version } from "./Version.ts"

const root = Command.make(
  "ct-agent",
  {},
  loaded(
    () => import("./commands/serve.ts"),
    ({ serve }) => serve({ onboard: false })
  )
).pipe(
  Command.withDescription(
    "Serves one tunnel: brings visitors of a public host name to a local service.\n\n" +
      "Without a command it serves; with CT_AGENT_JOIN_TOKEN or CT_BOOTSTRAP set it enrolls first, once.\n\n" +
      "Exit codes: 0 stopped by a signal, 2 wrong usage, 3 wrong configuration, 4 refused by the control plane or the edge, " +
      "5 they cannot be reached.\n\n" +
      `The variables that matter most (ct-agent help variables shows all):\n${Documentation.help(Variables.first)}`
  ),
  Command.withExamples([
    { command: "ct-agent expose 3000", description: "A public address for a local service" },
    { command: "ct-agent --config /etc/catenet/ct-agent.env", description: "Serves the tunnel of this file" }
  ])
)

const help = Command.make(
  "help",
  {},
  loaded(
    () => import("./commands/help.ts"),
    ({ variables }) => variables
  )
).pipe(
  Command.withDescription("Shows every variable. For a command, see ct-agent COMMAND --help."),
  Command.withShortDescription("Show every variable"),
  Command.withExamples([{ command: "ct-agent help variables", description: "All of them, with their defaults" }]),
  Command.withSubcommands([
    Command.make(
      "variables",
      {},
      loaded(
        () => import("./commands/help.ts"),
        ({ variables }) => variables
      )
    ).pipe(
      Command.withDescription("Shows every variable that a command of this program reads, with form and default."),
      Command.withShortDescription("Show every variable"),
      Command.withExamples([{ command: "ct-agent help variables | grep CT_ACME", description: "Those of one subject" }])
    )
  ])
)

const onboard = Command.make(
  "onboard",
  {},
  loaded(
    () => import("./commands/serve.ts"),
    ({ serve }) => serve({ onboard: true })
  )
).pipe(
  Command.withDescription(
    "Enrolls with CT_AGENT_JOIN_TOKEN or CT_BOOTSTRAP, then serves. An agent that is enrolled already restores its identity " +
      "from CT_AGENT_STATE_DIR and redeems nothing."
  ),
  Command.withShortDescription("Enroll once, then serve"),
  Command.withExamples([
    { command: "CT_BOOTSTRAP=... ct-agent onboard", description: "With the token of the install page" }
  ])
)

const status = Command.make(
  "status",
  {},
  loaded(
    () => import("./commands/status.ts"),
    ({ status }) => status
  )
).pipe(
  Command.withDescription(
    "Asks the running agent at CT_AGENT_METRICS_LISTEN for its status; without that variable it shows the last 20 events of " +
      "the ring in CT_AGENT_STATE_DIR."
  ),
  Command.withShortDescription("Show how the agent is doing"),
  Command.withExamples([{ command: "ct-agent status --json", description: "For a script" }])
)

const rotate = Command.make(
  "rotate",
  {},
  loaded(
    () => import("./commands/rotate.ts"),
    ({ rotate }) => rotate
  )
).pipe(
  Command.withDescription(
    "Makes a new origin key (CT_AGENT_ORIGIN_KEY) and capability (CT_AGENT_CAPABILITY_OUT) of a mesh tunnel, and moves the old " +
      "key to CT_AGENT_ORIGIN_KEY_DIR, from where the agent keeps serving it. The agent must be restarted."
  ),
  Command.withShortDescription("Replace the origin key of a mesh tunnel"),
  Command.withExamples([{ command: "ct-agent rotate --config db.env", description: "Of the agent of this file" }])
)

const certificate = Command.make(
  "certificate",
  {
    watch: Flag.Boolean("watch").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Go on, and renew the certificate when it is time")
    )
  },
  loaded(
    () => import("./commands/certificate.ts"),
    ({ certificate }, options) => certificate(options)
  )
).pipe(
  Command.withDescription(
    "Orders a certificate for CT_AGENT_HOSTNAME into CT_ACME_CERT_OUT_DIR, or renews the one that is there when a third of its " +
      "life is left or its authority suggests it. The control plane says when and at which authority; with CT_ACME_DIRECTORY_URL " +
      "it is one of your own, whose root your visitors have to trust, and the edge passes them on unread all the same. Exit codes: 0 done or not due, 4 refused or " +
      "not this name's turn yet, 5 not reached. A serving agent with CT_ACME_CERT_OUT_DIR does the same by itself."
  ),
  Command.withShortDescription("Order or renew the certificate of the host name"),
  Command.withExamples([
    { command: "ct-agent certificate --watch", description: "Beside an agent that does not do it itself" }
  ])
)

const topologyProof = Command.make(
  "topology-proof",
  {},
  loaded(
    () => import("./commands/topologyProof.ts"),
    ({ topologyProof }) => topologyProof
  )
).pipe(
  Command.withDescription(
    "Prints the agent's public key and its signature for being placed in the topology CT_TOPOLOGY_ID by the account " +
      "CT_TOPOLOGY_ACCOUNT, made with CT_CHANNEL_HOLDER_KEY. With --json it prints the body of POST /me/topologies/:id/agents. " +
      "A placement with it takes the agent from any account that placed it without."
  ),
  Command.withShortDescription("Sign for an account that places this agent in a topology"),
  Command.withExamples([{ command: "ct-agent topology-proof --json", description: "The body of the request" }])
)

const connect = Command.make(
  "connect",
  {
    capability: Flag.String("capability").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("The capability that the agent of the tunnel has written")
    ),
    listen: Flag.String("listen").pipe(
      Flag.optional,
      Flag.withMetavar("HOST:PORT"),
      Flag.withDescription("Local address whose connections go to the origin")
    ),
    udp: Flag.Boolean("udp").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Forward datagrams; the agent must have CT_AGENT_ORIGIN_PROTO=udp")
    ),
    stdio: Flag.Boolean("stdio").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Join one connection with stdin and stdout, as an ssh ProxyCommand does")
    ),
    viaEdge: Flag.Boolean("via-edge").pipe(
      Flag.withDefault(false),
      Flag.withDescription("Do not use a direct path to the agent, even when it offers one")
    ),
    ca: Flag.String("ca").pipe(
      Flag.optional,
      Flag.withMetavar("FILE"),
      Flag.withDescription(
        "Root certificate of the edge, PEM or DER; without it CT_AGENT_EDGE_CERT, then CT_AGENT_CP_URL/pki/ca"
      )
    )
  },
  loaded(
    () => import("./commands/connect.ts"),
    ({ connect }, options) => connect(options)
  )
).pipe(
  Command.withDescription(
    "Brings local clients to the origin of a mesh tunnel, sealed end to end. Every connection is a session of its own; one that " +
      "cannot be opened is tried again for ten seconds. When the agent has a port of its own that can be reached " +
      "(CT_AGENT_DIRECT_ADVERTISE), sessions go there and not through the edge."
  ),
  Command.withShortDescription("Use a mesh tunnel from the other end"),
  Command.withExamples([
    { command: "ct-agent connect --capability db.bin --listen 127.0.0.1:5432", description: "A database behind NAT" },
    { command: "ssh -o ProxyCommand='ct-agent connect --capability pi.bin --stdio' pi", description: "ssh" }
  ])
)

const doctor = Command.make(
  "doctor",
  {},
  loaded(
    () => import("./commands/doctor.ts"),
    ({ doctor }) => doctor
  )
).pipe(
  Command.withDescription(
    "Checks, from the configuration outward, everything a serving agent depends on: the control plane's name, port and answer, " +
      "the enrollment, the edge's root certificate, name, port, TLS and its acceptance of the token, the public host name, the " +
      "origin, and the certificate. Ends with the exit code of the first failure; it serves no visitor and redeems no token."
  ),
  Command.withShortDescription("Find out what is wrong and how to fix it"),
  Command.withExamples([{ command: "ct-agent doctor --config shop.env", description: "Of the agent of this file" }])
)

const init = Command.make(
  "init",
  {},
  loaded(
    () => import("./commands/init.ts"),
    ({ init }) => init
  )
).pipe(
  Command.withDescription(
    "Asks for what an agent needs and writes it to the file of --config (default ./ct-agent.env), readable for you only. Answers " +
      "may also come line by line on stdin."
  ),
  Command.withShortDescription("Write the configuration file by answering questions"),
  Command.withExamples([{ command: "ct-agent init --config shop.env", description: "Asks, and writes this file" }])
)

export const program = root.pipe(
  Command.withSubcommands([
    expose,
    login,
    logout,
    whoami,
    tunnels,
    tunnel,
    init,
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
    MarketCli.offer,
    relayNode,
    help
  ]),
  Command.withGlobalFlags([Flags.Version, Flags.ConfigFile, Flags.Json])
)

/** The program with these arguments. Fails with a `CliError` on wrong usage, else with a `Failure`. */
export const runWith = (args: ReadonlyArray<string>) =>
  Command.runWith(program, { version, renderErrors: true })(argumentsOf(program, args)).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provide(UsageFormatter.layer),
    Effect.provide(CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Completions, GlobalFlag.LogLevel] })),
    // Set to nothing is not the same as unset: some variables refuse it.
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true })))
  )

/** The whole program. */
export const run = Effect.suspend(() => runWith(process.argv.slice(2)))
