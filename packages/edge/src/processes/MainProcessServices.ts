/** The services that a worker does not run itself, but is told of by the main process or asks it for. */
import { Clock, Effect, Layer, Option } from "effect"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { type AuditRow, AuditLog, row } from "../audit/AuditLog.ts"
import { AgentKeys } from "../sessions/AgentKeys.ts"
import { Settings } from "../settings/Settings.ts"
import { ProcessIdentity } from "../sessions/ProcessIdentity.ts"
import { PairFiles } from "../tls/PairFiles.ts"
import { PairSource } from "../tls/PairSource.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import type { Init, ToMain, ToWorker } from "./WorkerMessages.ts"

export interface FromMainProcess {
  readonly leaf: PairSource
  readonly pairs: ReadonlyMap<string, PairSource>
  /** Rows of the audit log that have not been reported. */
  readonly audit: Array<AuditRow>
  /** The main process has said who owns a tunnel. */
  readonly answered: (claim: number, owns: boolean) => void
  readonly claim: (token: string, key: string) => Promise<boolean>
  readonly seen: (token: string) => void
  readonly root: Buffer
  /** The running edge, and which of its processes this is. */
  readonly edge: Uint8Array
  readonly index: number
}

/** What is told, and kept until something newer is. */
export const make = (channel: WorkerChannel<ToMain, ToWorker>, init: Init): FromMainProcess => {
  const claims = new Map<number, (owns: boolean) => void>()
  let lastClaim = 0
  return {
    root: Buffer.from(init.root, "base64"),
    edge: Buffer.from(init.edge, "hex"),
    index: init.index,
    leaf: new PairSource(init.leaf),
    pairs: new Map(init.pairs.map(([certificate, pair]) => [certificate, new PairSource(pair)])),
    audit: [],
    answered: (claim, owns) => {
      claims.get(claim)?.(owns)
      claims.delete(claim)
    },
    claim: (token, key) =>
      new Promise((resolve) => {
        const id = ++lastClaim
        claims.set(id, resolve)
        channel.send({ _tag: "Claim", id, token, key })
      }),
    seen: (token) => channel.send({ _tag: "Seen", token })
  }
}

const audit = (main: FromMainProcess) =>
  Effect.gen(function* () {
    const { auditPath } = yield* Settings
    const clock = yield* Clock.Clock
    const seconds = () => Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
    return AuditLog.of({
      note: (transport, socket, token) => {
        if (auditPath !== undefined) main.audit.push(row(seconds(), transport, socket, token))
      },
      write: (rows) => void main.audit.push(...rows)
    })
  })

const placement = ({ edge, index }: FromMainProcess) =>
  Effect.map(Settings, ({ processes }) => ({ place: { edge, process: index, processes } }))

export const layer = (main: FromMainProcess) =>
  Layer.effect(AuditLog, audit(main)).pipe(
    Layer.merge(Layer.effect(ProcessIdentity, placement(main))),
    Layer.merge(Layer.succeed(AgentKeys, { owns: main.claim, seen: main.seen })),
    Layer.merge(Layer.succeed(CertificateAuthority, { root: main.root, leaf: main.leaf })),
    Layer.merge(
      Layer.succeed(PairFiles, {
        followed: main.pairs,
        follow: ({ certificate }) => Effect.succeed(Option.fromUndefinedOr(main.pairs.get(certificate)))
      })
    )
  )
