/** `channel directory`: lists and removes an account's entries in the public directory of agents. */
import { OwnDirectoryEntry } from "@catenet/domain/agents/Directory"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Schema } from "effect"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { Screen } from "../terminal/Screen.ts"

const account = Effect.gen(function* () {
  return yield* ControlPlaneSelection.of(yield* EnvironmentFile.read(yield* configFile, LoginVariables.account))
})

const Entries = Schema.Array(OwnDirectoryEntry)
const encode = Schema.encodeSync(Entries)
const services = Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists])
const path = "/me/agents-directory"

export const entries = Effect.gen(function* () {
  const screen = yield* Screen
  const listed = yield* AccountClient.ask(yield* account, { method: "GET", path, answer: Entries })
  if (screen.json) return screen.result(JSON.stringify(encode(listed)))
  if (listed.length === 0)
    return yield* Effect.logInfo("no agent of yours is in the directory; ct-agent channel agent-card registers one")
  for (const { card_url, expires_at, holder_pubkey, role_tags } of listed) {
    const until = new Date(expires_at * 1000).toISOString().replace(".000Z", "Z")
    screen.result(`${holder_pubkey}  ${until}  ${role_tags.join(",")}  ${card_url}`)
  }
}).pipe(services)

export const remove = ({ holder }: { readonly holder: string }) =>
  Effect.gen(function* () {
    const entry = `${path}/${encodeURIComponent(holder)}`
    yield* AccountClient.ask(yield* account, { method: "DELETE", path: entry, answer: Schema.Unknown })
    yield* Effect.logInfo("the agent is no longer in the directory")
  }).pipe(services)
