/** `pipeline match` fills the roles of a published pipeline; `pipeline run` also passes stdin through their services, in order. */
import * as Bytes from "@catenet/crypto/Bytes"
import * as ChannelIds from "@catenet/crypto/ChannelIds"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as MarketService from "@catenet/crypto/market/MarketService"
import * as MatchRef from "@catenet/crypto/market/MatchRef"
import { native } from "@catenet/crypto/native"
import { clause } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import type { Values } from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, Layer, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { homedir } from "node:os"
import { join } from "node:path"
import * as OneShotCall from "../channel/local/OneShotCall.ts"
import { textOf } from "../channel/rpc/Tool.ts"
import * as ChannelFailure from "../channel/session/ChannelFailure.ts"
import { PostQuantumPeers } from "../channel/session/PostQuantumPeers.ts"
import { CallFailed, Refused } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { AgentMetrics } from "../observe/AgentMetrics.ts"
import { Events } from "../observe/Events.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as PipelineMatch from "../pipeline/PipelineMatch.ts"
import * as PublishedPipeline from "../pipeline/PublishedPipeline.ts"
import * as RoleProvider from "../pipeline/RoleProvider.ts"
import * as SelectionHistory from "../pipeline/SelectionHistory.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { Meeting, pemOf } from "../settings/MemberSettings.ts"
import * as PipelineRules from "../settings/PipelineRules.ts"
import * as PipelineVariables from "../settings/PipelineVariables.ts"
import { Screen } from "../terminal/Screen.ts"
import * as Signals from "../terminal/Signals.ts"

type Given = Values<typeof PipelineVariables.variables>
type Published = Effect.Success<ReturnType<typeof PublishedPipeline.read>>

/** Number of role channels joined concurrently. */
const maxConcurrent = 8

/** How to reach each role's channel, with the grant for that channel. */
const brokersOf = Effect.fnUntraced(function* (given: Given, { operator, spec }: Published) {
  const root = yield* pemOf("CT_CHANNEL_FRONT_DOOR_CERT", given.frontDoorCertificate)
  const { broker, frontDoor, frontDoorOnly, holderKey, relay, webSocket } = given
  if (broker === undefined || relay === undefined)
    return yield* ConfigurationInvalid.of("CT_CHANNEL_BROKER", "is not set")
  return yield* Effect.forEach(spec.roles, ({ tag }) => {
    const channel = ChannelIds.pipelineRole(native, operator, spec.id, tag)
    const grant = given.pipelineGrants.map(Redacted.value).find((each) => Bytes.equal(each.channel, channel))
    if (grant === undefined)
      return ConfigurationInvalid.of(
        "CT_PIPELINE_GRANTS",
        `has no grant for the role ${tag}, whose channel is ${Hex.encode(channel)}`,
        "ask the pipeline's operator for one"
      )
    const meeting = Meeting.Broker({
      broker,
      relay,
      frontDoor,
      isFrontDoorOnly: frontDoorOnly?.isOn ?? false,
      root,
      webSocket,
      node: undefined,
      grant,
      holderKey,
      listen: undefined,
      isUpgrading: false
    })
    return Effect.succeed({ tag, meeting })
  })
})

/** Sends the input to the service of the first role, its output to the service of the second, and so on. */
const runServices = Effect.fnUntraced(function* (matches: ReadonlyArray<PipelineMatch.Match>, input: string) {
  let text = input
  for (const { provider, role } of matches) {
    const name = `service/${MarketService.slug(role.service)}`
    const failed = (why: string) => new CallFailed({ detail: `${role.tag} did not serve ${name}: ${clause(why)}.` })
    const answer = yield* Effect.mapError(provider.call(name, { input: text }), ({ message }) => failed(message))
    text = textOf(answer, "output") ?? (yield* failed("its answer has no output"))
  }
  return text
})

const factsOf = (pipeline: string, { price, provider, reference, role }: PipelineMatch.Match) => ({
  role: role.tag,
  service: role.service,
  provider: provider.holder,
  units: role.units,
  price,
  currency: provider.offer.currencyId,
  match_ref: reference,
  escrow_ref: Hex.encode(MatchRef.ofRole(native, pipeline, provider.offer.holder, role.units, price))
})

const print = Effect.fnUntraced(function* (
  pipeline: string,
  matches: ReadonlyArray<PipelineMatch.Match>,
  output: string | undefined
) {
  const screen = yield* Screen
  const facts = matches.map((match) => factsOf(pipeline, match))
  if (screen.json)
    return screen.result(Json.write({ pipeline, assignments: facts, ...(output === undefined ? {} : { output }) }))
  if (output !== undefined) return screen.result(output)
  const widest = Math.max(...facts.map(({ role }) => role.length))
  for (const { currency, match_ref, price, provider, role, units } of facts)
    screen.result(`${role.padEnd(widest)}  ${provider}  ${units}  ${price} ${currency}  ${match_ref}`)
})

const fillRoles = Effect.fnUntraced(function* (given: Given, published: Published, input: string | undefined) {
  const { operator, spec } = published
  const brokers = yield* brokersOf(given, published)
  const member = {
    role: "initiate",
    noise: native.x25519.keyPair(Redacted.value(given.noiseKey)),
    configured: undefined,
    isUpgrading: false
  } as const
  const providers = yield* Effect.forEach(
    brokers,
    ({ meeting, tag }) =>
      Effect.map(RoleProvider.meetAll(tag, meeting, member, given.pipelineWaitSecs), (found) => [tag, found] as const),
    { concurrency: maxConcurrent }
  )
  const stateDir = given.stateDir ?? join(homedir(), ".ct-agent")
  const answer = yield* SelectionHistory.using(stateDir, { id: spec.id, operator }, (turns) =>
    PipelineMatch.run(spec, new Map(providers), given.holderKey, turns)
  )
  if (Result.isFailure(answer)) {
    const { refused, tag, units } = answer.failure
    const asked = refused === 0 ? "" : `; ${refused} were asked and did not take the bid`
    return yield* new Refused({
      detail: `No provider fits the role ${tag}, which wants ${units} units${asked}. Are its agents running, with an offer that declares the service?`
    })
  }
  const matches = answer.success
  yield* Effect.logInfo(`the ${matches.length} roles of the pipeline ${spec.id} are filled`)
  yield* print(spec.id, matches, input === undefined ? undefined : yield* runServices(matches, input))
})

const command = (isRunning: boolean) =>
  Effect.gen(function* () {
    const rules = PipelineRules.rules(yield* Clock.currentTimeMillis)
    const given = yield* EnvironmentFile.read(yield* configFile, PipelineVariables.variables, rules)
    const input = isRunning ? yield* OneShotCall.input : undefined
    const published = yield* PublishedPipeline.read(given.controlPlane, given.pipelineId, given.operatorPubkey)
    const layer = Layer.mergeAll(
      Events.layer(given.stateDir ?? join(homedir(), ".ct-agent")).pipe(Layer.provideMerge(AgentMetrics.layer)),
      PostQuantumPeers.layer(given.stateDir ?? join(homedir(), ".ct-agent")),
      SecureRandom.layerWebCrypto
    )
    const running = Effect.scoped(fillRoles(given, published, input)).pipe(
      Effect.provide(layer),
      Effect.catchTag("AllStrategiesFailed", (error) => Effect.fail(ChannelFailure.ofDialer(error)))
    )
    yield* Effect.raceFirst(running, Signals.first)
  }).pipe(Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer]))

/** Prints the provider of each role. */
export const match = command(false)

/** Prints the output of the last role's service. */
export const run = command(true)
