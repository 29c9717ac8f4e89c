/**
 * Codes that bring a visitor from the platform to the requested host. A code travels in the URL, so it is valid once,
 * for a minute, at one host, and only in the browser that started there.
 */
import { native } from "@catenet/crypto/native"
import * as TokenEncoding from "@catenet/crypto/TokenEncoding"
import { GateCodeRefused } from "@catenet/domain/tunnels/GateErrors"
import { GateEntry, returnPath } from "@catenet/domain/tunnels/GateVisit"
import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { unixSeconds } from "../runtime/UnixClock.ts"
import { Settings } from "../settings/Settings.ts"
import { sqlOrDie } from "../store/SqlOrDie.ts"
import { GateCodeStore, type Visitor } from "../tunnels/GateCodeStore.ts"

/** Seconds in which a code has to be exchanged. */
const codeLifetime = 60

/** Where an edge, or a proxy that asks the external check, exchanges the code. */
export const entryPath = "/.catenet/gate"
/** Where a visitor's session at the host ends. */
export const exitPath = "/.catenet/gate/logout"

const hashToken = (token: Redacted.Redacted) => TokenEncoding.hashText(native, token)
const entryFrom = Schema.decodeSync(GateEntry)

/** A longer one is not remembered. */
const longestPath = 4_000

/** As a browser would write it, which may make another host of what was none. */
const inAscii = (path: string) => {
  const { hash, pathname, search } = new URL(returnPath(path), "https://host")
  const written = returnPath(`${pathname}${search}${hash}`)
  return written.length > longestPath ? "/" : written
}

export interface Aim {
  readonly host: string
  readonly path: string
  readonly browser: string
}

export class GateCodes extends Context.Service<
  GateCodes,
  {
    /** The address to which the browser of a visitor is sent. */
    readonly mint: (aim: Aim, visitor: Visitor) => Effect.Effect<string>
    /** Opens the visitor's session at the host. */
    readonly redeem: (shown: {
      readonly host: string
      readonly code: Redacted.Redacted
      readonly browser: string
    }) => Effect.Effect<GateEntry, GateCodeRefused>
  }
>()("server/gate/GateCodes") {
  static readonly make = Effect.gen(function* () {
    const store = yield* GateCodeStore
    const { gateHostsPort } = yield* Settings
    const random = yield* SecureRandom.SecureRandom
    const fresh = Effect.map(random.randomBytes(32), (bytes) => TokenEncoding.urlText(Redacted.make(bytes)))

    return {
      mint: Effect.fn("GateCodes.mint")(function* ({ browser, host, path }: Aim, visitor: Visitor) {
        const code = yield* fresh
        const codeExpiresAt = (yield* unixSeconds) + codeLifetime
        yield* store.keep({ ...visitor, codeHash: hashToken(code), browser, host, path: inAscii(path), codeExpiresAt })
        const address = new URL(entryPath, `https://${host}:${gateHostsPort}`)
        address.searchParams.set("code", Redacted.value(code))
        return address.href
      }, sqlOrDie),

      redeem: Effect.fn("GateCodes.redeem")(function* (shown: {
        readonly host: string
        readonly code: Redacted.Redacted
        readonly browser: string
      }) {
        const session = yield* fresh
        const now = yield* unixSeconds
        const { browser, code, host } = shown
        const found = yield* store.exchange({
          host,
          browser,
          codeHash: hashToken(code),
          tokenHash: hashToken(session),
          now
        })
        if (Option.isNone(found)) return yield* new GateCodeRefused()
        const { expiresAt, path } = found.value
        return entryFrom({ session: Redacted.value(session), seconds: expiresAt - now, path })
      }, sqlOrDie)
    }
  })

  static readonly layer = Layer.effect(GateCodes, GateCodes.make).pipe(Layer.provide([GateCodeStore.layer]))
}
