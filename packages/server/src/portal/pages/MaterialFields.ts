/** The three fields of what a member says of itself: its holder key, its Noise key, and its signature over both. */
import { type Markup, markup } from "@catenet/platform/Markup"
import { field, type Sent, valuesOf } from "../shell/Field.ts"
import type { Texts } from "../texts/English.ts"

export const materialFields = (texts: Texts, sent: Sent | undefined, form: string): Markup => {
  const values = valuesOf(texts, sent, form)
  const one = (name: string, label: string, hint: string) =>
    field({ ...values(name), id: `${form}-${name}`, label, hint })
  return markup`${one("holder", texts.holderKey, texts.hex64)}${one("noise_pubkey", texts.noiseKey, texts.hex64)}${one(
    "noise_attestation",
    texts.attestation,
    texts.hex128
  )}`
}
