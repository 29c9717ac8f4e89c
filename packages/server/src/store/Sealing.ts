/**
 * Secrets that the database must give back, sealed under keys that it does not hold: a copy of the database or a backup
 * opens none of them. `CT_CP_SEAL_KEY` gives the keys; the first one seals, all of them open.
 */
import { native } from "@catenet/crypto/native"
import * as SealedText from "@catenet/crypto/SealedText"
import { ConfigurationInvalid } from "@catenet/platform/ConfigurationInvalid"
import { Context, Effect, Layer, Redacted, Result, Schema, SchemaGetter, SchemaIssue } from "effect"
import { Settings } from "../settings/Settings.ts"

/** The columns that hold sealed text. */
export type Place =
  | "alerts.receiver_token"
  | "alerts.secret"
  | "alerts.webhook_url"
  | "bridges.grant_hex"
  | "channel_grants.grant_hex"
  | "gate_codes.path"
  | "gate_sign_ins.path"
  | "platform_accounts.key"
  | "platform_certificates.challenge"
  | "platform_certificates.key"
  | "portal_sessions.id_token"
  | "portal_sign_ins.next"
  | "sign_in_clients.content"
  | "sign_in_codes.email"
  | "sign_in_keys.key"
  | "sign_in_mails.content"
  | "sign_in_records.payload"
  | "ticket_keys.key"

const readKeys = Effect.gen(function* () {
  const { sealKeys } = yield* Settings
  return (
    sealKeys ??
    (yield* ConfigurationInvalid.of(
      "CT_CP_SEAL_KEY",
      "is not set",
      "set it, or CT_CP_SEAL_KEY_FILE, to 64 random hex digits (openssl rand -hex 32) and keep them apart from the database"
    ))
  )
})

type Secret = Redacted.Redacted<Uint8Array>

type Secrets = readonly [Secret, ...ReadonlyArray<Secret>]

const sealingWith = ([first, ...others]: Secrets): Sealing["Service"] => {
  const keyFrom = (secret: Secret) => SealedText.keyOf(native, Redacted.value(secret))
  const current = keyFrom(first)
  const keys = [current, ...others.map(keyFrom)]

  const seal = (place: Place, text: string) => SealedText.seal(native, current, place, text)

  const open: Sealing["Service"]["open"] = (place, stored) =>
    SealedText.keyIdOf(stored) === undefined ? Result.succeed(stored) : SealedText.open(native, keys, place, stored)

  return {
    seal,
    open,
    pseudonym: (place: string, text: string) => SealedText.pseudonym(native, current, place, text),
    prefix: SealedText.prefixOf(current),
    keyIds: keys.map(({ id }) => id),
    column: (place, schema) =>
      Schema.String.pipe(
        Schema.decodeTo(schema, {
          decode: SchemaGetter.transformEffect((stored: string) =>
            Effect.fromResult(
              Result.mapError(open(place, stored), ({ message }) => new SchemaIssue.InvalidValue({ message }))
            )
          ),
          encode: SchemaGetter.transform((text: string) => seal(place, text))
        })
      )
  }
}

export class Sealing extends Context.Service<
  Sealing,
  {
    readonly seal: (place: Place, text: string) => string
    /** Text from before sealing is read as it stands; it is sealed at the next start (`Reseal`). */
    readonly open: (
      place: Place,
      stored: string
    ) => Result.Result<string, SealedText.SealKeyMissing | SealedText.SealBroken>
    /** What is stored of a text that is only compared and easy to guess, such as an address. A new first key makes others. */
    readonly pseudonym: (place: string, text: string) => string
    /** What every text sealed now begins with. */
    readonly prefix: string
    /** The ids of all keys, the one that seals first. */
    readonly keyIds: ReadonlyArray<string>
    /** A column: sealed text in the database, a value of `schema` here. */
    readonly column: <A>(place: Place, schema: Schema.Codec<A, string>) => Schema.Codec<A, string>
  }
>()("server/store/Sealing") {
  static readonly make = Effect.gen(function* () {
    const [first, ...others] = yield* readKeys
    // The pattern of both variables wants one key at least.
    return first === undefined ? yield* Effect.die("no seal key") : sealingWith([first, ...others])
  })

  static readonly layer = Layer.effect(Sealing, Sealing.make)
  /** With keys of the caller's: the first one seals, all open. */
  static readonly layerOf = (...keys: Secrets) => Layer.succeed(Sealing, sealingWith(keys))
}
