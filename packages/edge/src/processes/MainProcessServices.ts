/** The services that a worker does not run itself, but is told of by the main process or asks it for. */
import { Clock, Effect, Layer, Option } from "effect"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { type AuditRow, AuditLog, row } from "../audit/AuditLog.ts"
import { AgentKeys } from "../sessions/AgentKeys.ts"
import { Settings } from "../settings/Settings.ts"
import { Placement } from "../sessions/ProcessIdentity.ts"
import { PairFiles } from "../tls/PairFiles.ts"
import { PairSource } from "../tls/PairSource.ts"
import type { Ipc } from "./WorkerChannel.ts"
import type { Begin, ToMain, ToWorker } from "./Message.ts"

export interface ToldShape {
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
export const make = (ipc: Ipc<ToMain, ToWorker>, begin: Begin): ToldShape => {
  const claims = new Map<number, (owns: boolean) => void>()
  let lastClaim = 0
  return {
    root: Buffer.from(begin.root, "base64"),
    edge: Buffer.from(begin.edge, "hex"),
    index: begin.index,
    leaf: new PairSource(begin.leaf),
    pairs: new Map(begin.pairs.map(([certificate, pair]) => [certificate, new PairSource(pair)])),
    audit: [],
    answered: (claim, owns) => {
      claims.get(claim)?.(owns)
      claims.delete(claim)
    },
    claim: (token, key) =>
      new Promise((resolve) => {
        const id = ++lastClaim
        claims.set(id, resolve)
        ipc.send({ _tag: "Claim", id, token, key })
      }),
    seen: (token) => ipc.send({ _tag: "Seen", token })
  }
}

const audit = (told: ToldShape) =>
  Effect.gen(function* () {
    const { auditPath } = yield* Settings
    const clock = yield* Clock.Clock
    const seconds = () => Math.floor(clock.currentTimeMillisUnsafe() / 1_000)
    return AuditLog.of({
      note: (transport, socket, token) => {
        if (auditPath !== undefined) told.audit.push(row(seconds(), transport, socket, token))
      },
      write: (rows) => void told.audit.push(...rows)
    })
  })

const placement = ({ edge, index }: ToldShape) =>
  Effect.map(Settings, ({ processes }) => ({ place: { edge, process: index, processes } }))

export const layer = (told: ToldShape) =>
  Layer.effect(AuditLog, audit(told)).pipe(
    Layer.merge(Layer.effect(Placement, placement(told))),
    Layer.merge(Layer.succeed(AgentKeys, { owns: told.claim, seen: told.seen })),
    Layer.merge(Layer.succeed(CertificateAuthority, { root: told.root, leaf: told.leaf })),
    Layer.merge(
      Layer.succeed(PairFiles, {
        followed: told.pairs,
        follow: ({ certificate }) => Effect.succeed(Option.fromUndefinedOr(told.pairs.get(certificate)))
      })
    )
  )
