/**
 * The certificate pairs that this edge watches in files, by the file of the certificate. A process that starts later gets the
 * pairs in use, not the current content of the files.
 */
import { Context, Effect, FileSystem, Layer, Option, Scope } from "effect"
import type { PemPair } from "../settings/Settings.ts"
import * as CertificateReload from "./CertificateReload.ts"
import type { CertificateSource } from "./CertificateSource.ts"

export class CertificateFiles extends Context.Service<
  CertificateFiles,
  {
    /** The pair, replaced when the files change; none if it is unusable. */
    readonly follow: (files: PemPair) => Effect.Effect<Option.Option<CertificateSource>>
    readonly followed: ReadonlyMap<string, CertificateSource>
  }
>()("edge/tls/CertificateFiles") {
  static readonly make = Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const scope = yield* Scope.Scope
    const followed = new Map<string, CertificateSource>()
    return CertificateFiles.of({
      followed,
      follow: Effect.fnUntraced(function* (files) {
        const known = followed.get(files.certificate)
        if (known !== undefined) return Option.some(known)
        const source = yield* CertificateReload.follow(files).pipe(
          Effect.provideService(FileSystem.FileSystem, fs),
          Effect.provideService(Scope.Scope, scope)
        )
        if (Option.isSome(source)) followed.set(files.certificate, source.value)
        return source
      })
    })
  })
  static readonly layer = Layer.effect(this, this.make)
}
