import { processOfMembers, program } from "@catenet/testing/edge/QuicMember"
import { mintPair } from "@catenet/testing/edge/TestEdge"
import { untilSuccess } from "@catenet/testing/Eventually"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as QuicCertificateReload from "../../src/quic/QuicCertificateReload.ts"
import { CertificateSource } from "../../src/tls/CertificateSource.ts"

const transport = { keepAlive: 3_000, idle: 10_000, streams: 10 }

describe.skipIf(program === undefined)("a bound UDP port", () => {
  it.live("goes on with a renewed leaf, and so does the process that comes after it", () =>
    Effect.gen(function* () {
      const [first, second, third] = [mintPair(["localhost"]), mintPair(["localhost"]), mintPair(["localhost"])]
      const leaf = new CertificateSource(first)
      const quic = yield* processOfMembers
      const { cert: certificate, key } = first
      const at = { address: "127.0.0.1", port: 0 }
      const bound = yield* quic.listen({ at, certificate, key, transport }, () => ({
        connected: () => undefined,
        failed: () => undefined
      }))
      // Renewed before it is followed.
      leaf.replace(second)
      yield* QuicCertificateReload.follow(leaf, bound, first)
      const dial = ({ root: roots }: typeof first) =>
        quic.dial({ to: bound, serverName: "localhost", roots, transport })
      const older = yield* untilSuccess(dial(second))
      leaf.replace(third)
      const newer = yield* untilSuccess(dial(third))
      assert.match((yield* Effect.flip(dial(second))).message, /certificate/iu)
      assert.isFalse(older.isClosed)
      process.kill(quic.pid(), "SIGKILL")
      yield* Effect.promise(() => newer.closed)
      yield* untilSuccess(dial(third))
      assert.match((yield* Effect.flip(dial(first))).message, /certificate/iu)
    }).pipe(Effect.scoped)
  )
})
