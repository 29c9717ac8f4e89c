/** `offer`: prints the signed capacity offer of a serving member, or with `--verify` says whether one is signed and alive. */
import { ConfigurationInvalid } from "@catenet/config/ConfigurationInvalid"
import * as Hex from "@catenet/crypto/Hex"
import * as Json from "@catenet/crypto/Json"
import * as Offer from "@catenet/crypto/market/Offer"
import { native } from "@catenet/crypto/native"
import { clause } from "@catenet/domain/values/Sentence"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Clock, Effect, FileSystem, Option } from "effect"
import { CallFailed } from "../Failure.ts"
import { configFile } from "../Flags.ts"
import * as Environment from "../settings/Environment.ts"
import * as MarketVariables from "../settings/MarketVariables.ts"
import { Screen } from "../terminal/Screen.ts"

const now = Effect.map(Clock.currentTimeMillis, (millis) => BigInt(Math.floor(millis / 1000)))

/** What is longer is no offer. */
const longest = 1_048_576

const verify = Effect.fn("Offer.verify")(function* (path: string) {
  const screen = yield* Screen
  const fs = yield* FileSystem.FileSystem
  const bad = (why: string) => new CallFailed({ detail: `${path} is no valid offer: ${clause(why)}.` })
  const unreadable = Effect.mapError(() => bad("it cannot be read"))
  if ((yield* unreadable(fs.stat(path))).size > longest) return yield* bad("it is longer than 1 MiB")
  const text = new TextDecoder().decode(yield* unreadable(fs.readFile(path)))
  const offer = yield* Effect.mapError(Effect.fromResult(Offer.json.parse(text)), ({ message }) => bad(message))
  const at = yield* now
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

const print = Effect.fn("Offer.print")(function* () {
  const screen = yield* Screen
  const given = yield* Environment.read(yield* configFile, MarketVariables.signedOffer)
  if (given.offerModels.length === 0)
    return yield* ConfigurationInvalid.of("CT_AGENT_OFFER_MODELS", "names no model", "set it to ids between commas")
  const issuedAt = yield* now
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

export const offer = Effect.fn("Offer.offer")(function* ({ verify: file }: { readonly verify: Option.Option<string> }) {
  return yield* Option.isSome(file) ? verify(file.value) : print()
}, Effect.provide(NodeFileSystem.layer))
