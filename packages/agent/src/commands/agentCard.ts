/**
 * `channel agent-card`: writes the agent's signed card, optionally as an A2A card, and registers it in the directory. With
 * `--verify` it checks a card.
 */
import * as A2aCard from "@catenet/crypto/A2aCard"
import * as AgentCard from "@catenet/crypto/AgentCard"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import type { Values } from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Option } from "effect"
import { dirname } from "node:path"
import * as DirectoryClient from "../account/DirectoryClient.ts"
import { StateUnusable } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as CardVariables from "../settings/CardVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as KeyFile from "../state/KeyFile.ts"
import { Screen } from "../terminal/Screen.ts"

interface Options {
  readonly a2a: boolean
  readonly verify: Option.Option<string>
}

type Given = Values<typeof CardVariables.agentCard>

const verify = Effect.fn("agentCard.verify")(function* (path: string) {
  const screen = yield* Screen
  const bad = (why: string) => KeyFile.invalid(path, "card", why)
  const text = yield* KeyFile.readSignedFile(path, "card")
  const json = yield* Effect.mapError(Effect.fromResult(Json.parse(text)), ({ message }) => bad(message))
  const card = yield* Effect.mapError(Effect.fromResult(AgentCard.json.fromJson(json)), ({ why }) => bad(why))
  const at = yield* unixSecondsBigInt
  if (at >= card.expiresAt) return yield* bad("it has expired")
  if (!AgentCard.verify(native, card, Number(at))) return yield* bad("its signature does not verify")
  if (!A2aCard.holds(native, json)) return yield* bad("the signature of its A2A part does not verify")
  const [holder, expires] = [Hex.encode(card.holder), card.expiresAt]
  if (screen.json) return screen.result(Json.write({ holder, role_tags: card.roleTags, expires_at: expires }))
  const roles = card.roleTags.map((role) => JSON.stringify(role)).join(", ")
  screen.result(`valid  holder=${holder}  role_tags=[${roles}]  expires_at=${expires}`)
})

/** The A2A fields. The address defaults to the agent's own, from the card's address. */
const describe = Effect.fnUntraced(function* ({
  cardA2aUrl,
  cardDescription,
  cardName,
  cardRoles,
  cardUrl,
  cardVersion
}: Given) {
  const url = cardA2aUrl ?? (cardUrl === undefined ? undefined : `${new URL(cardUrl).origin}/`)
  if (url === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_AGENT_CARD_A2A_URL",
      "is not set",
      "set it, or CT_AGENT_CARD_URL, to where this agent answers A2A"
    )
  const name = cardName ?? cardRoles[0] ?? "agent"
  return { name, description: cardDescription ?? `An agent for ${cardRoles.join(", ")}.`, version: cardVersion, url }
})

/** Replaced as a whole: readers see the card of before, or this one. */
const place = Effect.fnUntraced(
  function* (path: string, text: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(dirname(path), { recursive: true })
    yield* fs.writeFileString(`${path}.new`, text)
    yield* fs.rename(`${path}.new`, path)
  },
  Effect.mapError((error) => new StateUnusable({ path: "the card", detail: `it cannot be written: ${error.message}` }))
)

const write = Effect.fn("agentCard.write")(function* (a2a: boolean) {
  const screen = yield* Screen
  const given = yield* EnvironmentFile.read(yield* configFile, CardVariables.agentCard)
  const issuedAt = yield* unixSecondsBigInt
  const card = AgentCard.sign(native, given.holderKey, {
    roleTags: given.cardRoles,
    skills: given.cardSkills ?? [],
    cells: given.cardCells ?? [],
    channels: given.cardChannels ?? [],
    issuedAt,
    expiresAt: issuedAt + BigInt(given.cardTtlSecs)
  })
  const text = a2a ? A2aCard.write(native, given.holderKey, card, yield* describe(given)) : AgentCard.json.write(card)
  const path = `${given.cardOut}/.well-known/agent-card.json`
  yield* place(path, text)
  screen.result(screen.json ? Json.write({ path }) : path)
  yield* DirectoryClient.register(given, card)
})

export const agentCard = Effect.fn("agentCard.agentCard")(
  function* ({ a2a, verify: file }: Options) {
    if (Option.isSome(file)) return yield* verify(file.value)
    return yield* write(a2a)
  },
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer])
)
