/**
 * The agent as a systemd or launchd service definition. The manager restarts it whenever it ends; systemd does not after an exit
 * code that needs a person (2 usage, 3 configuration, 4 refused).
 */
import { markup } from "@catenet/platform/Markup"
import * as SystemdUnit from "@catenet/platform/SystemdUnit"

export type Manager = "systemd" | "launchd"

export const managers = ["systemd", "launchd"] as const satisfies ReadonlyArray<Manager>

export interface Service {
  /** The served address, for people. */
  readonly what: string
  /** The program and its arguments, with absolute paths. */
  readonly command: ReadonlyArray<string>
  /** The working directory for relative paths of the configuration. */
  readonly folder: string
  /** The user whose files it may read. */
  readonly user: string
  /** Absolute paths that it writes to. */
  readonly writes: ReadonlyArray<string>
  /** It listens on a privileged port. */
  readonly lowPort: boolean
}

/** Below these a service sees nothing with ProtectHome=yes. */
const isHome = (path: string) => /^\/(?:home|root|run\/user)(?:\/|$)/.test(path)

/** Programs and configuration are read-only, and homes are out of sight unless something of this agent is in one: then they are read-only, too. */
const fileSystem = ({ command, folder, writes }: Service) => [
  "ProtectSystem=full",
  `ProtectHome=${[...command, folder, ...writes].some(isHome) ? "read-only" : "yes"}`,
  ...Array.from(
    new Set(writes),
    (path) => `ReadWritePaths=${SystemdUnit.quoted(`-${path}`).replaceAll("$$", () => "$")}`
  )
]

const systemd = (service: Service) =>
  SystemdUnit.render({
    description: `Catenet agent of ${service.what}`,
    start: service.command.map(SystemdUnit.quoted).join(" "),
    runs: [`WorkingDirectory=${service.folder.replaceAll("%", "%%")}`, `User=${service.user}`],
    final: [2, 3, 4],
    stopSeconds: 20,
    may: [...fileSystem(service), ...SystemdUnit.hardening(service)]
  })

const text = (value: string) => markup`<string>${value}</string>`.text

const launchd = ({ command, folder }: Service) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>net.catenet.agent</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}`).join("\n")}
  </array>
  <key>WorkingDirectory</key>
  ${text(folder)}
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>StandardErrorPath</key>
  ${text(`${folder}/ct-agent.log`)}
</dict>
</plist>
`

/** The definition; ends with a newline. */
export const render = (manager: Manager, service: Service): string =>
  manager === "systemd" ? systemd(service) : launchd(service)
