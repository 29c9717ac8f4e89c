/** The agent's releases that this control plane serves. */
import { Context, Effect, Layer } from "effect"
import { Settings } from "../settings/Settings.ts"
import * as ReleaseFolder from "./ReleaseFolder.ts"
import * as ReleaseListing from "./ReleaseListing.ts"

/** The npm package of the agent, as each release has it. */
export const packageName = "agent.tgz"

/** What lists and signs the programs of a release, which `/install.sh` reads first. */
const manifestName = "release-manifest.json"

export class Releases extends Context.Service<
  Releases,
  {
    /** The file of a version, or of the newest release. */
    file(version: string, name: string): Effect.Effect<string | undefined>
    /** The npm package of the newest release that has one. */
    readonly package: Effect.Effect<string | undefined>
    /** What starts the agent in a terminal: it brings the package along where a release has one. */
    readonly command: Effect.Effect<string>
    /** The same for a machine without Node, which installs the program; none where no release has programs. */
    readonly installing: Effect.Effect<string | undefined>
    /** The same for a person who may have the program only by another way. */
    readonly joining: Effect.Effect<string>
  }
>()("server/releases/Releases") {
  static readonly make = Effect.gen(function* () {
    const { agentsUrl, portalBaseUrl, releasesFolder } = yield* Settings
    const listed = releasesFolder === undefined ? Effect.succeed([]) : yield* ReleaseListing.make(releasesFolder)
    const packaged = Effect.map(listed, (releases) =>
      releases.flatMap(({ files }) => files.get(packageName) ?? []).at(0)
    )
    const { origin } = agentsUrl ?? portalBaseUrl
    // Where there is no terminal npx would not ask, and stop.
    const bringing = `npx --yes ${origin}/${packageName}`
    return {
      file: Effect.fn("Releases.file")(function* (version: string, name: string) {
        const releases = yield* listed
        const wanted = ReleaseFolder.versionOf(version)
        const found = version === "latest" ? releases.at(0) : releases.find((release) => release.version === wanted)
        return found?.files.get(name)
      }),
      package: packaged,
      command: Effect.map(packaged, (path) => (path === undefined ? "npx ct-agent" : bringing)),
      installing: Effect.map(listed, (releases) =>
        releases.at(0)?.files.has(manifestName) === true ? `curl -fsSL ${origin}/install.sh | sh` : undefined
      ),
      joining: Effect.map(packaged, (path) => (path === undefined ? "ct-agent" : bringing))
    }
  })
  static readonly layerNoDeps = Layer.effect(this, this.make)
  static readonly layer = this.layerNoDeps
}
