/** `channel invite`: prepares a membership of the operator's channel and prints the one-line command that joins with it. */
import * as Hex from "@catenet/crypto/Hex"
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import { clause, ended } from "@catenet/domain/values/Sentence"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import type { Values } from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option, Redacted, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import * as JsonHttp from "../channel/bridge/JsonHttp.ts"
import { textOf } from "../channel/rpc/Tool.ts"
import { Refused, Unreachable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as Credential from "../login/Credential.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatHostPort } from "../settings/HostPort.ts"
import * as LoginVariables from "../settings/LoginVariables.ts"
import { pemOf } from "../settings/MemberSettings.ts"
import { Screen } from "../terminal/Screen.ts"
import * as BareInvitation from "./invitation.ts"

interface Options {
  readonly mcp: boolean
  /** What the new member calls this one. */
  readonly name?: string
  /** Days for which the grant is valid. */
  readonly days: number
  /** The package that `npx` runs on the other machine instead of the control plane's. */
  readonly program: Option.Option<string>
}

/** Milliseconds for the control plane to say whether it has the package. */
const packageBound = 5000

/** The agent's package, if the control plane serves it, so that the printed line also installs the program. */
const packageOf = Effect.fnUntraced(function* (controlPlane: string) {
  const send = yield* OutgoingHttp.send
  return yield* Effect.tryPromise(async (signal) => {
    const url = `${controlPlane}/agent.tgz`
    const { ok } = await send(url, { method: "HEAD", signal })
    return ok ? Option.some(url) : Option.none<string>()
  }).pipe(
    Effect.timeout(packageBound),
    Effect.orElseSucceed(() => Option.none<string>())
  )
})

/** `npx` runs a file named as the program itself, so it is named as a package. */
const programLine = (from: string) =>
  /^https?:/u.test(from) ? `npx --yes ${from}` : `npx --yes --package '${from.replaceAll("'", "'\\''")}' ct-agent`

type Given = Values<typeof ChannelOwnerVariables.invite>

/** The edge's addresses, as variables for the new member. */
const placeOf = Effect.fnUntraced(function* (given: Given) {
  const { broker, frontDoor, frontDoorCertificate, relay } = given
  const pem = yield* pemOf("CT_CHANNEL_FRONT_DOOR_CERT", frontDoorCertificate)
  const only = frontDoor ?? broker
  if (only === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_FRONT_DOOR",
      "is not set",
      "set it, or CT_CHANNEL_BROKER, to where the edge is: the link says it to the one who joins"
    )
  if (frontDoor !== undefined && pem === undefined)
    return yield* ConfigurationInvalid.of(
      "CT_CHANNEL_FRONT_DOOR_CERT",
      "is not set",
      "set it to the edge's root, from /pki/ca of the control plane"
    )
  const place: PreparedMembership.PreparedMembership["values"] = [
    ["CT_CHANNEL_BROKER", formatHostPort(broker ?? only)],
    ["CT_CHANNEL_RELAY", formatHostPort(relay ?? broker ?? only)],
    ["CT_CHANNEL_RELAY_ONLY", "1"],
    ...(frontDoor === undefined ? [] : [["CT_CHANNEL_FRONT_DOOR", formatHostPort(frontDoor)] as const]),
    ...(pem === undefined
      ? []
      : [["CT_CHANNEL_FRONT_DOOR_CERT", new X509Certificate(pem).raw.toString("hex")] as const]),
    ...(given.frontDoorOnly?.isOn === true ? [["CT_CHANNEL_FRONT_DOOR_ONLY", "1"] as const] : [])
  ]
  return place
})

/** What it signs would be rejected, and the new member could not tell why. */
const otherOperator = ConfigurationInvalid.of(
  "CT_CHANNEL_OPERATOR_KEY",
  "is not the key of this channel's operator",
  "set it to the key that the channel was made with, or was given by its last change of keys"
)

/** Prints a line that joins the channel of this file. */
export const print = Effect.fn("invite.print")(
  function* ({ days, mcp, name, program }: Options, file: string | undefined) {
    const screen = yield* Screen
    const { maxMembershipDays } = PreparedMembership
    if (days < 1 || days > maxMembershipDays)
      return yield* new UsageWrong({ detail: `--days is ${days}: give a whole number from 1 to ${maxMembershipDays}.` })
    const given = yield* EnvironmentFile.read(file, ChannelOwnerVariables.invite)
    const channel = given.channel ?? (given.grant === undefined ? undefined : Redacted.value(given.grant).channel)
    if (channel === undefined)
      return yield* ConfigurationInvalid.of("CT_CHANNEL_ID", "is not set", "set it to the channel, 64 hex digits")
    const place = yield* placeOf(given)
    const random = yield* SecureRandom.SecureRandom
    const [holderKey, key] = [yield* random.randomBytes(32), yield* random.randomBytes(32)]
    const prepared = PreparedMembership.prepare(native, given.operatorKey, {
      use: mcp ? "mcp" : "variables",
      channel,
      direction: given.role === "accept" ? "initiate" : "accept",
      holderKey: Redacted.make(holderKey),
      days,
      now: yield* unixSecondsBigInt,
      place
    })
    const operator = Hex.encode(native.ed25519.publicKey(Redacted.value(given.operatorKey)))
    const named = name === undefined ? prepared : { ...prepared, name }
    const secret = PreparedMembership.seal(native, Redacted.make(key), named)
    const url = `${given.controlPlane}/me/channels/${Hex.encode(channel)}`
    const answer = yield* Effect.gen(function* () {
      const token = yield* Credential.resolve(LoginVariables.sourceOf(given))
      const asked = { whom: "The control plane", token }
      // An account that may not read the channel may still be allowed to create links.
      const known = yield* Effect.catchIf(
        JsonHttp.ask({ ...asked, url }),
        ({ isUnreachable }) => isUnreachable !== true,
        () => Effect.succeed(null)
      )
      if ((textOf(known, "operator_pubkey") ?? operator) !== operator) return undefined
      return yield* JsonHttp.ask({ ...asked, url: `${url}/join-links`, method: "POST", body: { secret } })
    }).pipe(
      Effect.mapError((error) => {
        const detail = `No invite link was made. ${clause(error.reason)}.`
        const isUnreachable = error._tag === "ToolFailed" ? error.isUnreachable === true : error.kind === "passing"
        return isUnreachable ? new Unreachable({ detail: `${ended(detail)} Try again.` }) : new Refused({ detail })
      })
    )
    if (answer === undefined) return yield* otherOperator
    const token = Hex.decode(textOf(answer, "token") ?? "", 32)
    if (Result.isFailure(token)) return yield* new Refused({ detail: "The control plane answered without a token." })
    const link = InviteLink.write({
      controlPlane: given.controlPlane,
      token: Redacted.make(token.success),
      key: Redacted.make(key)
    })
    if (screen.json) return screen.result(Json.write({ link }))
    const brought = Option.isSome(program) ? program : yield* packageOf(given.controlPlane)
    const run = Option.match(brought, { onNone: () => "ct-agent", onSome: programLine })
    screen.log("Send this line to the one who joins. It works once, within a day.")
    screen.result(`${run} channel join '${link}'`)
  },
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layer, SecureRandom.layerWebCrypto])
)

/** For an identity, where one is named; else a link. */
export const invite = (options: Options) =>
  Effect.flatMap(BareInvitation.isAsked, (isAsked) =>
    isAsked ? BareInvitation.invite : Effect.flatMap(configFile, (file) => print(options, file))
  )
