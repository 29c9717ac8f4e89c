/**
 * `mcp share`: a channel of its own for a local MCP server. Makes the channel and its keys on the first start, prints the line that
 * another machine joins with, and serves.
 */
import * as Grant from "@catenet/crypto/Grant"
import * as Hex from "@catenet/crypto/Hex"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import * as Json from "@catenet/crypto/Json"
import { native } from "@catenet/crypto/native"
import * as NoiseAttestation from "@catenet/crypto/NoiseAttestation"
import { Member } from "@catenet/domain/channels/Channel"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import type { Values } from "@catenet/platform/VariableReader"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, type Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { X509Certificate } from "node:crypto"
import { homedir } from "node:os"
import { basename, join as pathOf } from "node:path"
import * as AccountClient from "../account/AccountClient.ts"
import * as ControlPlaneSelection from "../account/ControlPlaneSelection.ts"
import { StateUnusable, UsageWrong } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import { OnboardingClient } from "../onboard/OnboardingClient.ts"
import * as OutgoingHttp from "../onboard/OutgoingHttp.ts"
import * as ChannelOwnerVariables from "../settings/ChannelOwnerVariables.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import { formatHostPort } from "../settings/HostPort.ts"
import { pemOf } from "../settings/MemberSettings.ts"
import * as FolderLock from "../state/FolderLock.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { channel as serveChannel } from "./channel.ts"
import * as Invite from "./invite.ts"

interface Options {
  readonly command: ReadonlyArray<string>
  readonly name: string | undefined
  readonly env: ReadonlyArray<string>
  readonly confirm: ReadonlyArray<string>
  readonly inspect: boolean
  readonly days: number
  readonly again: boolean
  readonly program: Option.Option<string>
}

/** Programs that run the program which comes after them. */
const runners = /^(?:npx|bunx|uvx|pnpm|yarn|dlx|exec|run|node|deno|bun|python[\d.]*|sh|bash|env)$/u

/** A name for what the command runs. */
export const nameOf = (command: ReadonlyArray<string>): string => {
  const found = command.find((word) => !word.startsWith("-") && !runners.test(basename(word))) ?? command[0] ?? ""
  const bare = basename(found.replace(/(?<=.)@[^@/]*$/u, "")).replace(/\.(?:[cm]?[jt]s|py)$/u, "")
  const name = bare
    .replaceAll(/[^\w-]+/gu, "-")
    .replaceAll(/^-+|-+$/gu, "")
    .slice(0, 32)
  return name === "" ? "mcp" : name
}

/** The command for a shell. */
const lineOf = (command: ReadonlyArray<string>) =>
  `exec ${command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`

type Given = Values<typeof ChannelOwnerVariables.share>

/** The edge's front door and its root, in hex. */
const edgeOf = Effect.fnUntraced(function* ({ frontDoor, frontDoorCertificate }: Given, controlPlane: string) {
  const plane = yield* OnboardingClient
  const pem = yield* pemOf("CT_CHANNEL_FRONT_DOOR_CERT", frontDoorCertificate)
  const root = pem === undefined ? yield* plane.ca(undefined) : new X509Certificate(pem).raw
  const host = new URL(controlPlane).hostname.replaceAll(/^\[|\]$/gu, "")
  const door = frontDoor ?? { host, port: yield* plane.frontDoorPort }
  return { door: formatHostPort(door), root: Hex.encode(root) }
})

const head = (command: ReadonlyArray<string>) => `# mcp share ${Json.write(command)}\n`

/** The file of a new channel: the variables of its owner and of its serving member. */
const contentsOf = Effect.fnUntraced(function* (
  { command, file }: { readonly command: ReadonlyArray<string>; readonly file: string },
  { controlPlane, source }: AccountClient.Account,
  edge: Effect.Success<ReturnType<typeof edgeOf>>
) {
  const random = yield* SecureRandom.SecureRandom
  const bytes = yield* random.randomBytes(128)
  const [operatorKey, channel, holderKey, noiseKey] = [0, 32, 64, 96].map((at) => bytes.slice(at, at + 32))
  const operator = Redacted.make(operatorKey ?? new Uint8Array())
  const hex = (key: Uint8Array = new Uint8Array()) => Hex.encode(key)
  const now = yield* unixSecondsBigInt
  const grant = Grant.sign(native, operator, {
    channel: channel ?? new Uint8Array(),
    holder: native.ed25519.publicKey(holderKey ?? new Uint8Array()),
    direction: "accept",
    rights: "rw",
    delegable: false,
    expiresAt: now + BigInt(PreparedMembership.maxMembershipDays * 86_400)
  })
  const values = [
    ["CT_AGENT_CP_URL", controlPlane],
    ["CT_AGENT_LOGIN_TOKEN_FILE", source.stored],
    ["CT_AGENT_STATE_DIR", file.replace(/\.env$/u, "")],
    ["CT_CHANNEL_ID", hex(channel)],
    ["CT_CHANNEL_OPERATOR_KEY", hex(operatorKey)],
    ["CT_CHANNEL_ROLE", "accept"],
    ["CT_CHANNEL_GRANT", Grant.toHex(grant)],
    ["CT_CHANNEL_HOLDER_KEY", hex(holderKey)],
    ["CT_CHANNEL_NOISE_KEY", hex(noiseKey)],
    ["CT_CHANNEL_BROKER", edge.door],
    ["CT_CHANNEL_RELAY", edge.door],
    ["CT_CHANNEL_RELAY_ONLY", "1"],
    ["CT_CHANNEL_FRONT_DOOR", edge.door],
    ["CT_CHANNEL_FRONT_DOOR_CERT", edge.root],
    ["CT_CHANNEL_FRONT_DOOR_ONLY", "1"]
  ]
  return `${head(command)}${values.map(([name, value]) => `${name}=${value}\n`).join("")}`
})

const put = (path: string, contents: string) =>
  PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(contents) }])

/** Peers that have joined would get another server than the one that their owners were invited to. */
const otherCommand = (path: string, name: string) =>
  new StateUnusable({
    path,
    detail: `it shares another command. To share this one with the same peers, give --name ${name}; for others, another name.`
  })

/** The file of this share, made anew or as it was. */
const prepare = Effect.fnUntraced(function* (options: Options, name: string, file: string) {
  const { command } = options
  const known = yield* PrivateFile.read(file)
  if (known === undefined) {
    const given = yield* EnvironmentFile.read(yield* configFile, ChannelOwnerVariables.share)
    const account = yield* ControlPlaneSelection.of(given)
    // Before any key is made: without a login nothing works.
    yield* AccountClient.bearer(account.source)
    const edge = yield* Effect.provide(
      edgeOf(given, account.controlPlane),
      OnboardingClient.layer(account.controlPlane)
    )
    yield* put(file, yield* contentsOf({ command, file }, account, edge))
    return true
  }
  const contents = new TextDecoder().decode(known)
  if (contents.startsWith(head(command))) return false
  if (options.name === undefined) return yield* otherCommand(file, name)
  yield* put(
    file,
    contents.replace(/^# mcp share .*\n/u, () => head(command))
  )
  return false
})

const Members = Schema.Struct({ members: Schema.Array(Member) })

/** Registers the channel and this member, which changes nothing if they are; returns whether another member has joined. */
const register = Effect.fnUntraced(function* (file: string) {
  const { channel, holderKey, noiseKey, operatorKey, ...given } = yield* EnvironmentFile.read(
    file,
    ChannelOwnerVariables.shared
  )
  const account = yield* ControlPlaneSelection.of(given)
  const id = Hex.encode(channel)
  const post = (path: string, body: object) =>
    AccountClient.ask(account, { method: "POST", path, body, answer: Schema.Unknown })
  const operator_pubkey = Hex.encode(native.ed25519.publicKey(Redacted.value(operatorKey)))
  yield* post("/me/channels", { channel: id, operator_pubkey })
  const holder = Hex.encode(native.ed25519.publicKey(Redacted.value(holderKey)))
  const noise = native.x25519.publicKey(Redacted.value(noiseKey))
  const attestation = NoiseAttestation.sign(native, holderKey, { channel, noiseKey: noise })
  const path = `/me/channels/${id}/members`
  yield* post(path, { holder, noise_pubkey: Hex.encode(noise), noise_attestation: Hex.encode(attestation) })
  const { members } = yield* AccountClient.ask(account, { method: "GET", path, answer: Members })
  return members.some((member) => member.holder !== holder)
})

/** Makes the share; returns its file. */
const open = Effect.fnUntraced(
  function* (options: Options) {
    const { again, command, days, name: given, program } = options
    if (command.length === 0)
      return yield* new UsageWrong({
        detail: "The command of the MCP server is missing: ct-agent mcp share -- npx -y some-server"
      })
    const name = given ?? nameOf(command)
    if (!/^[\w-]{1,32}$/u.test(name))
      return yield* new UsageWrong({ detail: "--name takes up to 32 letters, digits, - and _." })
    const folder = pathOf(homedir(), ".ct-agent", "channels")
    const file = pathOf(folder, `share-${name}.env`)
    yield* PrivateFile.folder(folder)
    if (!(yield* FolderLock.take(folder, `.share-${name}.lock`)))
      return yield* new StateUnusable({ path: file, detail: "another ct-agent shares it already. End that one first." })
    const isNew = yield* prepare(options, name, file)
    const isJoined = yield* Effect.tapError(register(file), ({ _tag }) =>
      isNew && _tag === "Refused" ? PrivateFile.remove(file) : Effect.void
    )
    if (isJoined && !again)
      yield* Effect.logInfo(`${name} has been joined already; --again prints a line for another machine`)
    else yield* Invite.print({ mcp: true, name, days, program }, file)
    return file
  },
  Effect.provide([NodeFileSystem.layer, OutgoingHttp.layerForLists, SecureRandom.layerWebCrypto])
)

export const share = (options: Options) =>
  Effect.gen(function* () {
    const file = yield* open(options)
    const { command, confirm, env, inspect } = options
    yield* serveChannel({ as: "server", mcpCommand: lineOf(command), env, confirm, inspect }, file)
  }).pipe(Effect.scoped)
