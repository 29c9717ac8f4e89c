/**
 * The root certificate of the mesh plane, as the edge published it. The first one read is served for the life of the
 * process: agents pin it, so it must not change under them.
 */
import { EdgeCaNotPublished } from "@catenet/domain/edges/EdgeErrors"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { Settings } from "../settings/Settings.ts"

/** The DER bytes, or the refusal while there is no such file. */
export const make = Effect.gen(function* () {
  const { edgeCertPath } = yield* Settings
  let published: Uint8Array | undefined
  return Effect.suspend(() => {
    if (published !== undefined) return Effect.succeed(published)
    if (edgeCertPath === undefined) return Effect.fail(new EdgeCaNotPublished())
    return Effect.tryPromise({ try: () => readFile(edgeCertPath), catch: () => new EdgeCaNotPublished() }).pipe(
      Effect.filterOrFail(
        (bytes) => bytes.length > 0,
        () => new EdgeCaNotPublished()
      ),
      Effect.map((bytes) => (published ??= new Uint8Array(bytes)))
    )
  })
})
