/**
 * The worker of the form that invites by one line: it makes and signs what `ct-agent channel invite` makes, by the same
 * code, with the operator key in the file that the form hands it. The key stays in the worker. It runs in browsers only;
 * `InviteScript.generated.ts` holds it as one script.
 */
import * as Hex from "@catenet/crypto/Hex"
import * as InviteLink from "@catenet/crypto/invite/InviteLink"
import * as PreparedMembership from "@catenet/crypto/invite/PreparedMembership"
import { portable } from "@catenet/crypto/portable"
import { Redacted, Result } from "effect"

/** Bytes are in hex; `place` says where the edge is. */
interface Wish extends Pick<PreparedMembership.Wish, "days" | "direction" | "place" | "use"> {
  readonly kind: "prepare"
  readonly file: { readonly size: number; readonly text: () => Promise<string> }
  readonly operator: string
  readonly channel: string
  readonly holderKey: string
  readonly key: string
  readonly now: number
}

/** For what was prepared, after the control plane took it. */
interface Minted {
  readonly kind: "write"
  readonly controlPlane: string
  readonly token: string
  readonly key: string
}

type Answer = { readonly secret: string } | { readonly link: string } | { readonly refused: "file" | "key" }

declare const addEventListener: (type: "message", listener: (event: { readonly data: Wish | Minted }) => void) => void
declare const postMessage: (answer: Answer) => void

/** A file of variables has a few lines. */
const longest = 65_536

const bytesOf = (hex: string) => Result.getOrThrow(Hex.decode(hex, 32))
const secretOf = (hex: string) => Redacted.make(bytesOf(hex))

/** The key of the file that is the operator's, whatever its variable is called. */
const operatorKey = (text: string, operator: string) => {
  const keys = text.match(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/giu) ?? []
  return keys.slice(0, 32).find((key) => Hex.encode(portable.ed25519.publicKey(bytesOf(key))) === operator)
}

const prepare = async ({ channel, days, direction, file, holderKey, key, now, operator, place, use }: Wish) => {
  if (file.size > longest) return { refused: "file" } as const
  const seed = operatorKey(await file.text(), operator)
  if (seed === undefined) return { refused: "key" } as const
  const prepared = PreparedMembership.prepare(portable, secretOf(seed), {
    use,
    channel: bytesOf(channel),
    direction,
    holderKey: secretOf(holderKey),
    days,
    now: BigInt(now),
    place
  })
  return { secret: PreparedMembership.seal(portable, secretOf(key), prepared) }
}

const answerTo = async (asked: Wish | Minted): Promise<Answer> => {
  if (asked.kind === "prepare") return prepare(asked)
  const { controlPlane, key, token } = asked
  return { link: InviteLink.write({ controlPlane, token: secretOf(token), key: secretOf(key) }) }
}

addEventListener("message", ({ data }) => {
  void answerTo(data).then(postMessage, () => postMessage({ refused: "file" }))
})
