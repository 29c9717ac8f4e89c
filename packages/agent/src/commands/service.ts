/** `service`: prints a service definition for the machine's service manager. Installs nothing. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, Option } from "effect"
import { userInfo } from "node:os"
import { dirname, resolve } from "node:path"
import { isSea } from "node:sea"
import { configFile } from "../Flags.ts"
import { invocation } from "../Invocation.ts"
import * as ServiceDefinition from "../service/ServiceDefinition.ts"
import * as ServicePlan from "../services/ServicePlan.ts"
import * as ServicesFile from "../services/ServicesFile.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as Settings from "../settings/Settings.ts"
import { Screen } from "../terminal/Screen.ts"

/** Root's own service runs as this user instead: an agent needs none of root's rights. */
const ownUser = "ct-agent"

const next: Readonly<Record<ServiceDefinition.Manager, string>> = {
  systemd: "Save this as /etc/systemd/system/ct-agent.service, then: systemctl enable --now ct-agent",
  launchd:
    "Save this as ~/Library/LaunchAgents/net.catenet.agent.plist, then: launchctl load -w ~/Library/LaunchAgents/net.catenet.agent.plist"
}

/** A service has no variables of this shell, so only the file counts. */
const fromFileAlone = Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))

/** Folders that the agent writes to; missing files are created in them. */
const writesOf = (settings: Settings.Settings, folder: string) => {
  const { capabilityOut, certificate, edgeCertificate, originKey, originKeyDir, stateDir } = settings
  const folders = [stateDir, certificate?.folder, originKeyDir]
  const files = [
    capabilityOut,
    edgeCertificate.file,
    originKey,
    certificate?.accountKey,
    isSea() ? process.execPath : undefined
  ]
  const named = (paths: ReadonlyArray<string | undefined>) =>
    paths.flatMap((path) => (path === undefined ? [] : [resolve(folder, path)]))
  return [folder, ...named(folders), ...named(files).map(dirname)]
}

/** What the definition says of the agent that this file configures. */
const factsOf = Effect.fnUntraced(function* (path: string) {
  const folder = dirname(resolve(path))
  if (ServicesFile.isNamed(path)) {
    const { listen, services, shared, stateDir } = yield* fromFileAlone(ServicePlan.read(path))
    const writes = writesOf({ ...shared, stateDir }, folder)
    return { what: `${services.size} services`, stateDir, writes, ports: [listen?.port ?? 0] }
  }
  const settings = yield* fromFileAlone(Settings.read(path))
  const { directPort, hostname: what = "a mesh tunnel", metricsListen, stateDir } = settings
  return { what, stateDir, writes: writesOf(settings, folder), ports: [directPort, metricsListen?.port ?? 0] }
})

export const service = ({ manager: wanted }: { readonly manager: Option.Option<ServiceDefinition.Manager> }) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const manager = Option.getOrElse(wanted, () => (process.platform === "darwin" ? "launchd" : "systemd"))
    const path = (yield* configFile) ?? EnvironmentFile.defaultFile
    const { ports, stateDir, what, writes } = yield* factsOf(path)
    const config = resolve(path)
    const { username } = userInfo()
    const asRoot = manager === "systemd" && username === "root"
    const definition = ServiceDefinition.render(manager, {
      what,
      command: [...invocation(), "--config", config],
      folder: dirname(config),
      user: asRoot ? ownUser : username,
      writes,
      lowPort: ports.some((port) => port > 0 && port < 1024)
    })
    screen.result(definition.trimEnd())
    if (asRoot)
      yield* Effect.logInfo(
        `The service runs as the user ${ownUser}, not as root. If that is not there: useradd --system ${ownUser}. ` +
          `Then give it what it reads and writes: mkdir -p ${resolve(dirname(config), stateDir)} && ` +
          `chown -R ${ownUser} ${resolve(dirname(config), stateDir)} ${config}`
      )
    yield* Effect.logInfo(next[manager])
  }).pipe(Effect.provide(NodeFileSystem.layer))
