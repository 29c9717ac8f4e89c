/** `offer`: prints a serving member's signed capacity offer; `--verify` checks one. */
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { unixSecondsBigInt } from "@catenet/platform/UnixTime"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Option } from "effect"
import { configFile } from "../Flags.ts"
import * as EnvironmentFile from "../settings/EnvironmentFile.ts"
import * as MarketVariables from "../settings/MarketVariables.ts"
import * as KeyFile from "../state/KeyFile.ts"
import { Screen } from "../terminal/Screen.ts"

const verify = Effect.fn("offer.verify")(function* (path: string) {
  const screen = yield* Screen
  const bad = (why: string) => KeyFile.invalid(path, "offer", why)
  const text = yield* KeyFile.readSignedFile(path, "offer")
  const offer = yield* Effect.mapError(Effect.fromResult(Offer.json.parse(text)), ({ message }) => bad(message))
  const at = yield* unixSecondsBigInt
  if (at >= offer.expiresAt) return yield* bad("it has expired")
  if (!Offer.verify(native, offer, at)) return yield* bad("its signature does not verify")
  const { expiresAt, kind, minPrice, unitsAvailable } = offer
  const holder = Hex.encode(offer.holder)
  if (screen.json)
    return screen.result(
      Json.write({ holder, kind, units_available: unitsAvailable, min_price: minPrice, expires_at: expiresAt })
    )
  screen.result(
    `valid  holder=${holder}  kind=${kind}  units=${unitsAvailable}  min_price=${minPrice}  expires_at=${expiresAt}`
  )
})

const print = Effect.fn("offer.print")(function* () {
  const screen = yield* Screen
  const given = yield* EnvironmentFile.read(yield* configFile, MarketVariables.signedOffer)
  const issuedAt = yield* unixSecondsBigInt
  const signed = Offer.sign(native, given.holderKey, {
    kind: given.offerKind,
    models: given.offerModels,
    unitsAvailable: given.offerUnits,
    minPrice: given.offerMinPrice,
    currencyId: given.offerCurrency,
    services: given.offerServices ?? [],
    issuedAt,
    expiresAt: issuedAt + BigInt(given.offerTtlSecs)
  })
  screen.result(Offer.json.write(signed))
})

export const offer = Effect.fn("offer.offer")(function* ({ verify: file }: { readonly verify: Option.Option<string> }) {
  return yield* Option.isSome(file) ? verify(file.value) : print()
}, Effect.provide(NodeFileSystem.layer))
