/**
 * The certificate authorities of this deployment: those that may be offered, and how an agent reaches each. An authority
 * that wants an external account binding is offered only where its pair of variables is set.
 */
import { CertificateAuthority } from "@catenet/domain/certificates/Admission"
import { type CertificateAuthority as Known, offerable } from "@catenet/domain/certificates/CertificateAuthorities"
import { Context, Effect, Layer, Redacted } from "effect"
import { Settings } from "../settings/Settings.ts"

export class CertificateAuthorities extends Context.Service<
  CertificateAuthorities,
  {
    /** What the sweep may offer, in order of preference. */
    readonly offerable: ReadonlyArray<Known>
    /** An agent's certificate authority as its answer describes it; one that was offered once may be unlisted by now. */
    readonly describe: (name: string) => CertificateAuthority | null
  }
>()("server/certificates/CertificateAuthorities") {
  static readonly make = Effect.gen(function* () {
    const { certificateAuthorities } = yield* Settings
    const { listed, others } = certificateAuthorities
    const known = [...listed, ...others]
    for (const { isHalfBound, name } of known) {
      if (isHalfBound)
        yield* Effect.logWarning(`${name} is not offered: only half of its external account binding is configured.`)
    }
    const withBinding = new Set(listed.filter(({ binding }) => binding !== undefined).map(({ name }) => name))

    return {
      offerable: offerable(withBinding, listed),
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

  static readonly layer = Layer.effect(CertificateAuthorities, CertificateAuthorities.make)
}
