/** `channel init` and `channel operator-init`: generates keys as shell variables. Uses no network. */
import * as Hex from "@catenet/crypto/Hex"
import { native } from "@catenet/crypto/native"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { StateUnusable } from "../Failure.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { Screen } from "../terminal/Screen.ts"

export interface Output {
  readonly out: Option.Option<string>
  readonly force: boolean
}

/**
 * Writes to a file readable only by this user, or to stdout. A lost key cannot be recovered, so no file is replaced without
 * `--force`.
 */
const put = Effect.fnUntraced(function* (lines: ReadonlyArray<string>, { force, out }: Output) {
  const screen = yield* Screen
  if (Option.isNone(out)) return screen.result(lines.join("\n"))
  const fs = yield* FileSystem.FileSystem
  const path = out.value
  const isThere = yield* Effect.orElseSucceed(fs.exists(path), () => true)
  if (isThere && !force)
    return yield* new StateUnusable({
      path,
      detail: "it is there already. Name another file, or replace its keys with --force."
    })
  yield* PrivateFile.replaceAll([{ path, bytes: new TextEncoder().encode(`${lines.join("\n")}\n`) }])
  screen.result(path)
})

const services = Effect.provide([NodeFileSystem.layer, SecureRandom.layerWebCrypto])

const fresh = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return yield* random.randomBytes(32)
})

export const init = (output: Output) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const [holderKey, noiseKey] = [yield* fresh, yield* fresh]
    const holder = Hex.encode(native.ed25519.publicKey(holderKey))
    const noise = Hex.encode(native.x25519.publicKey(noiseKey))
    if (screen.json && Option.isNone(output.out)) {
      const keys = { holder_key: Hex.encode(holderKey), noise_key: Hex.encode(noiseKey) }
      return screen.result(JSON.stringify({ ...keys, holder_pubkey: holder, noise_pubkey: noise }))
    }
    yield* put(
      [
        "# Keys of a member of channels. Its public halves, for the operator of the channel:",
        `#   holder_pubkey = ${holder}`,
        `#   noise_pubkey  = ${noise}`,
        `export CT_CHANNEL_HOLDER_KEY=${Hex.encode(holderKey)}`,
        `export CT_CHANNEL_NOISE_KEY=${Hex.encode(noiseKey)}`,
        "# Keep both secret: who has them is this member."
      ],
      output
    )
  }).pipe(services)

export const operatorInit = (output: Output) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const key = yield* fresh
    const operator = Hex.encode(native.ed25519.publicKey(key))
    if (screen.json && Option.isNone(output.out))
      return screen.result(JSON.stringify({ operator_key: Hex.encode(key), operator_pubkey: operator }))
    yield* put(
      [
        "# Key of an operator of channels. Its public half, for members and for the control plane:",
        `#   operator_pubkey = ${operator}`,
        `export CT_CHANNEL_OPERATOR_KEY=${Hex.encode(key)}`
      ],
      output
    )
  }).pipe(services)
