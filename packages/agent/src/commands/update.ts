/** `update`: replaces this program with the newest release. */
import * as Json from "@catenet/crypto/Json"
import { ended } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect } from "effect"
import { isSea } from "node:sea"
import { Refused, Unreachable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as UpdateState from "../observe/UpdateState.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as UpdateVariables from "../settings/UpdateVariables.ts"
import * as Variables from "../settings/Variables.ts"
import { Screen } from "../terminal/Screen.ts"
import * as ExecutableFile from "../update/ExecutableFile.ts"
import * as ReleaseCandidate from "../update/ReleaseCandidate.ts"
import * as Update from "../update/Update.ts"
import { version } from "../Version.ts"

const npmLine = (url: string, newer: string) =>
  `npm or a checkout brought this program: npx --yes ${url}/${newer}/agent.tgz runs version ${newer}.`

export const update = Effect.fn("update.update")(
  function* ({ check }: { readonly check: boolean }) {
    const screen = yield* Screen
    const given = yield* EnvironmentFile.read(yield* configFile, Variables.update)
    const source = UpdateVariables.sourceOf(given, given.controlPlane)
    if (source === undefined)
      return yield* ConfigurationInvalid.of(
        "CT_AGENT_CP_URL",
        "is not set",
        "set it to the address of the control plane, or CT_AGENT_RELEASE_URL to that of the releases"
      )
    const show = (newer: string | undefined, applied: boolean) =>
      screen.result(
        screen.json
          ? Json.write({ version, newer: newer ?? null, applied })
          : newer === undefined
            ? `up-to-date (${version})`
            : applied
              ? `updated ${version} to ${newer}`
              : `${newer} is newer than ${version}`
      )
    if (check || !isSea()) {
      const found = yield* ReleaseCandidate.check(source, version)
      if (found !== undefined && !check) return yield* new Refused({ detail: npmLine(source.url, found.version) })
      return show(found?.version, false)
    }
    const program = yield* ExecutableFile.make(process.execPath)
    const { trialSeconds } = given
    const state = UpdateState.initial()
    const newer = yield* Update.run({ source, program, running: version, state, byHand: true, trialSeconds })
    show(newer, newer !== undefined)
    if (newer !== undefined)
      yield* Effect.logInfo("A service that runs goes on with the old version until it is restarted.")
  },
  Effect.catchTag("UpdateFailed", ({ isAway, reason }) => {
    const detail = `No update: ${ended(reason)}`
    return Effect.fail(isAway === true ? new Unreachable({ detail }) : new Refused({ detail }))
  }),
  Effect.provide(NodeFileSystem.layer)
)
