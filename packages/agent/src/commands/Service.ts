/** `service`: prints what the machine's service manager needs to keep this agent running. It installs nothing itself. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { ConfigProvider, Effect, Option, Result } from "effect"
import { userInfo } from "node:os"
import { dirname, resolve } from "node:path"
import { ConfigurationInvalid } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as ServiceDefinition from "../service/ServiceDefinition.ts"
import * as Environment from "../settings/Environment.ts"
import * as Settings from "../settings/Settings.ts"
import { Screen } from "../terminal/Screen.ts"

const next: Readonly<Record<ServiceDefinition.Manager, string>> = {
  systemd: "Save this as /etc/systemd/system/ct-agent.service, then: systemctl enable --now ct-agent",
  launchd:
    "Save this as ~/Library/LaunchAgents/net.catenet.agent.plist, then: launchctl load -w ~/Library/LaunchAgents/net.catenet.agent.plist"
}

/** A service has no variables of this shell, so only the file counts. */
const fromFileAlone = Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))

export const service = (wanted: Option.Option<ServiceDefinition.Manager>) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const manager = Option.getOrElse(wanted, () => (process.platform === "darwin" ? "launchd" : "systemd"))
    const path = (yield* configFile) ?? Environment.defaultFile
    const parsed = Settings.parse(yield* fromFileAlone(Environment.read(path)))
    if (Result.isFailure(parsed)) return yield* new ConfigurationInvalid({ problems: parsed.failure })
    const config = resolve(path)
    const definition = ServiceDefinition.render(manager, {
      what: parsed.success.hostname ?? "a mesh tunnel",
      command: [process.execPath, resolve(process.argv[1] ?? ""), "--config", config],
      folder: dirname(config),
      user: userInfo().username
    })
    screen.result(definition.trimEnd())
    yield* Effect.logInfo(next[manager])
  }).pipe(Effect.provide(NodeFileSystem.layer))
