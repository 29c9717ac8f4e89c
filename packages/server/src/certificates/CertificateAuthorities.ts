/**
 * The certificate authorities of this deployment: those that may be offered, and how an agent reaches each. An authority
 * that wants an external account binding is offered only where its pair of variables is set.
 */
import { CertificateAuthority } from "@catenet/domain/certificates/Admission"
import { offerable } from "@catenet/domain/certificates/CertificateAuthorities"
import { Context, Effect, Layer, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"

const make = Effect.gen(function* () {
  const { certificateAuthorities } = yield* Settings
  const { listed, others } = certificateAuthorities
  const known = [...listed, ...others]
  for (const { isHalfBound, name } of known) {
    if (isHalfBound)
      yield* Effect.logWarning(`${name} is not offered: only half of its external account binding is configured.`)
  }
  const withBinding = new Set(listed.filter(({ binding }) => binding !== undefined).map(({ name }) => name))

  return {
    /** What the sweep may offer, in order of preference. */
    offerable: offerable(withBinding, listed),
    /** What an agent that may issue is told about its authority; one that was offered once may be unlisted by now. */
    describe: (name: string): CertificateAuthority | null => {
      const found = known.find((ca) => ca.name === name)
      if (found === undefined) return null
      const { binding, directoryUrl, requiresEab } = found
      return new CertificateAuthority({
        name,
        directory_url: directoryUrl,
        requires_eab: requiresEab,
        eab_kid: binding?.kid ?? null,
        eab_hmac_key_b64url: binding === undefined ? null : Redacted.value(binding.hmac)
      })
    }
  }
})

export class Authorities extends Context.Service<Authorities, Effect.Success<typeof make>>()("server/Authorities") {
  static readonly layer = Layer.effect(Authorities, make)
}
