/** The bridge tools that act as the channel's owner at the control plane. The channel is always the agent's own. */
import * as Hex from "@catenet/crypto/Hex"
import type * as Json from "@catenet/crypto/Json"
import { Effect, FileSystem, Option, Record } from "effect"
import * as Credential from "../../login/Credential.ts"
import * as OutgoingHttp from "../../onboard/OutgoingHttp.ts"
import type { BridgeTerms } from "../../settings/MemberSettings.ts"
import { isObject, textOf, ToolFailed } from "../rpc/Tool.ts"
import type { BridgeTool } from "./BridgeTool.ts"
import * as JsonHttp from "./JsonHttp.ts"

/** Asks below the agent's own channel. */
const asker = (terms: BridgeTerms, fs: FileSystem.FileSystem) =>
  Effect.fnUntraced(function* (path: string, body?: Json.Json) {
    const { channel, controlPlane } = terms
    if (controlPlane === undefined) return yield* new ToolFailed({ reason: "CT_AGENT_CP_URL is not set at this agent" })
    if (channel === undefined) return yield* new ToolFailed({ reason: "CT_CHANNEL_ID is not set at this agent" })
    const token = yield* Credential.resolve(terms.credential).pipe(
      Effect.mapError(({ reason }) => new ToolFailed({ reason })),
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.provide(OutgoingHttp.layer)
    )
    const url = `${controlPlane}/me/channels/${Hex.encode(channel)}/${path}`
    return yield* JsonHttp.ask({
      whom: "the control plane",
      url,
      token,
      ...(body === undefined ? {} : { method: "POST", body })
    })
  })

const emailOf = (name: string, args: Json.Json) => {
  const email = textOf(args, "email")
  return email === undefined ? Effect.fail(new ToolFailed({ reason: `${name} wants an email` })) : Effect.succeed(email)
}

export const make = Effect.fnUntraced(function* (terms: BridgeTerms) {
  const ask = asker(terms, yield* FileSystem.FileSystem)
  const tools: ReadonlyArray<BridgeTool> = [
    {
      name: "bridge/channel-members",
      description: "The members of this agent's channel.",
      isReadOnly: true,
      answer: () => ask("members")
    },
    {
      name: "bridge/allowlist-list",
      description: "The e-mail addresses that may claim a membership of this agent's channel.",
      isReadOnly: true,
      answer: () =>
        Effect.map(ask("allowlist"), (body): Json.Json => ({
          emails: (isObject(body) ? Option.getOrUndefined(Record.get(body, "emails")) : undefined) ?? []
        }))
    },
    {
      name: "bridge/allowlist-add",
      description: "Lets an e-mail address claim a membership: {email}.",
      isReadOnly: false,
      answer: Effect.fnUntraced(function* (args: Json.Json) {
        const email = yield* emailOf("bridge/allowlist-add", args)
        yield* ask("allowlist", { email })
        return { allow_listed: email }
      })
    },
    {
      name: "bridge/allowlist-remove",
      description: "Takes an e-mail address from the allow-list: {email}.",
      isReadOnly: false,
      answer: Effect.fnUntraced(function* (args: Json.Json) {
        const email = yield* emailOf("bridge/allowlist-remove", args)
        yield* ask(`allowlist/${encodeURIComponent(email)}/remove`, {})
        return { removed: email }
      })
    }
  ]
  return tools
})
