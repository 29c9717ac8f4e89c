/**
 * The certificate authorities of this deployment: those that may be offered, and how an agent reaches each. An authority
 * that wants an external account binding is offered only where its pair of variables is set.
 */
import { CertificateAuthority } from "@catenet/domain/Admission"
import { certificateAuthorities, offerable } from "@catenet/domain/rules/CertificateAuthorities"
import { Context, Effect, Layer, Redacted } from "effect"
import { Settings } from "../Settings.ts"

interface Binding {
  readonly kid: string
  readonly hmac: Redacted.Redacted
}

const make = Effect.gen(function* () {
  const settings = yield* Settings
  const pairs = [
    ["zerossl", settings.eabZerosslKid, settings.eabZerosslHmac],
    ["google-trust-services", settings.eabGtsKid, settings.eabGtsHmac],
    ["ssl.com", settings.eabSslcomKid, settings.eabSslcomHmac]
  ] as const
  const bindings = new Map<string, Binding>()
  for (const [name, kid, hmac] of pairs) {
    if (kid !== undefined && hmac !== undefined) bindings.set(name, { kid, hmac })
    else if (kid !== undefined || hmac !== undefined) {
      yield* Effect.logWarning(`${name} is not offered: only half of its external account binding is configured.`)
    }
  }

  return {
    /** What the sweep may offer, in order of preference. */
    offerable: offerable(new Set(bindings.keys())),
    /** What an agent that may issue is told about its authority. */
    describe: (name: string): CertificateAuthority | null => {
      const known = certificateAuthorities.find((ca) => ca.name === name)
      if (known === undefined) return null
      const binding = bindings.get(name)
      return new CertificateAuthority({
        name,
        directory_url: known.directoryUrl,
        requires_eab: known.requiresEab,
        eab_kid: binding?.kid ?? null,
        eab_hmac_key_b64url: binding === undefined ? null : Redacted.value(binding.hmac)
      })
    }
  }
})

export class Authorities extends Context.Service<Authorities, Effect.Success<typeof make>>()("server/Authorities") {
  static readonly layer = Layer.effect(Authorities, make)
}
