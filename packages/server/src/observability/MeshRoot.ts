/**
 * The root certificate of the mesh plane, as the edge published it. The first one read is served for the life of the
 * process: agents pin it, so it must not change under them.
 */
import { EdgeCaNotConfigured, EdgeCaNotPublished } from "@catenet/domain/edges/EdgeErrors"
import { Files } from "@catenet/platform/Files"
import { Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { Settings } from "../settings/Settings.ts"

const isAbsent = (error: unknown) => error instanceof Error && "code" in error && error.code === "ENOENT"

/** The DER bytes, or the refusal while there is no such file. A file that is still being copied is no certificate. */
export const make = Effect.gen(function* () {
  const { edgeAdminUrl, edgeCertPath } = yield* Settings
  if (edgeCertPath === undefined && edgeAdminUrl !== undefined)
    yield* Effect.logWarning(
      "CT_CP_EDGE_CERT_PATH is not set: agents cannot learn the root certificate of the edge; set it to the file of CT_EDGE_CERT_OUT, or to a copy of it."
    )
  let published: Uint8Array | undefined
  const read = Effect.fnUntraced(function* (path: string) {
    const bytes = yield* Effect.tryPromise({
      try: () => Files.readFile(path),
      catch: (error) => (isAbsent(error) ? new EdgeCaNotPublished() : new EdgeCaNotConfigured({ reason: "unusable" }))
    })
    if (bytes.length === 0) return yield* new EdgeCaNotPublished()
    return yield* Effect.try({
      try: () => new Uint8Array(new X509Certificate(bytes).raw),
      catch: () => new EdgeCaNotConfigured({ reason: "unusable" })
    })
  })
  return Effect.suspend(() => {
    if (published !== undefined) return Effect.succeed(published)
    if (edgeCertPath === undefined) return Effect.fail(new EdgeCaNotConfigured({ reason: "unset" }))
    return Effect.tap(read(edgeCertPath), (der) => Effect.sync(() => (published = der)))
  })
})
