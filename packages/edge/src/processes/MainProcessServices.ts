/** The services that an edge has once, in a worker: they use what the main process sends, or ask it. */
import { Clock, Effect, Layer, Option } from "effect"
import { type AuditRow, AuditLog, noting } from "../audit/AuditLog.ts"
import { CertificateAuthority } from "../ca/CertificateAuthority.ts"
import { ProcessIdentity } from "../sessions/ProcessIdentity.ts"
import { TunnelOwnership } from "../sessions/TunnelOwnership.ts"
import { Settings } from "../settings/Settings.ts"
import { CertificateFiles } from "../tls/CertificateFiles.ts"
import { CertificateSource } from "../tls/CertificateSource.ts"
import { HostCertificates, HostCertificateStore } from "../tls/HostCertificates.ts"
import { SessionTickets } from "../tls/SessionTickets.ts"
import { ticketKey, TicketKeyRing, type TicketKeys } from "../tls/TicketKeyRing.ts"
import type { WorkerChannel } from "./WorkerChannel.ts"
import type { Init, ToMain, ToWorker } from "./WorkerMessages.ts"

export interface FromMainProcess {
  readonly leaf: CertificateSource
  readonly pairs: ReadonlyMap<string, CertificateSource>
  readonly hosts: HostCertificateStore
  readonly tickets: TicketKeyRing
  /** Audit log rows that have not been reported yet. */
  readonly audit: Array<AuditRow>
  /** Called with the main process's answer about the owner of a tunnel. */
  readonly ownershipAnswered: (question: number, owns: boolean) => void
  readonly owns: (token: string, key: string) => Promise<boolean>
  readonly seen: (token: string) => void
  readonly root: Buffer
  /** The running edge, and which of its processes this is. */
  readonly edge: Uint8Array
  readonly index: number
}

type TicketKeysOfMain = Init["ticketKeys"]

/** The ticket keys that the main process sends. */
export const ticketKeys = ({ given, own }: TicketKeysOfMain): TicketKeys => {
  const all = (keys: TicketKeysOfMain["own"]) => keys.map(({ bytes, from }) => ticketKey(Buffer.from(bytes), from))
  return { own: all(own), given: all(given) }
}

/** Starts with what the main process sent first; later messages replace it. */
export const make = (channel: WorkerChannel<ToMain, ToWorker>, init: Init, now: () => number): FromMainProcess => {
  const questions = new Map<number, (owns: boolean) => void>()
  let lastQuestion = 0
  const hosts = new HostCertificateStore()
  hosts.give(init.hosts)
  return {
    root: Buffer.from(init.root, "base64"),
    edge: Buffer.from(init.edge, "hex"),
    index: init.index,
    leaf: new CertificateSource(init.leaf),
    pairs: new Map(init.pairs.map(([certificate, pair]) => [certificate, new CertificateSource(pair)])),
    hosts,
    tickets: TicketKeyRing.of(now, ticketKeys(init.ticketKeys)),
    audit: [],
    ownershipAnswered: (question, owns) => {
      questions.get(question)?.(owns)
      questions.delete(question)
    },
    owns: (token, key) =>
      new Promise((resolve) => {
        const id = ++lastQuestion
        questions.set(id, resolve)
        channel.send({ _tag: "AskOwnership", id, token, key })
      }),
    seen: (token) => channel.send({ _tag: "OwnerSeen", token })
  }
}

const audit = (main: FromMainProcess) =>
  Effect.gen(function* () {
    const { auditPath } = yield* Settings
    const clock = yield* Clock.Clock
    return AuditLog.of({
      ...noting(clock, (row) => {
        if (auditPath !== undefined) main.audit.push(row)
      }),
      write: (rows) => void main.audit.push(...rows)
    })
  })

const processIdentity = ({ edge, index }: FromMainProcess) =>
  Effect.map(Settings, ({ processes }) => ({ edgeProcess: { edge, process: index, processes } }))

export const layer = (main: FromMainProcess) =>
  Layer.effect(AuditLog, audit(main)).pipe(
    Layer.merge(Layer.effect(ProcessIdentity, processIdentity(main))),
    Layer.merge(Layer.succeed(TunnelOwnership, { owns: main.owns, seen: main.seen })),
    Layer.merge(Layer.succeed(CertificateAuthority, { root: main.root, leaf: main.leaf })),
    Layer.merge(
      Layer.effect(
        HostCertificates,
        Effect.map(HostCertificates.make, (held) => held && main.hosts)
      )
    ),
    Layer.merge(Layer.succeed(SessionTickets, main.tickets)),
    Layer.merge(
      Layer.succeed(CertificateFiles, {
        followed: main.pairs,
        follow: ({ certificate }) => Effect.succeed(Option.fromUndefinedOr(main.pairs.get(certificate)))
      })
    )
  )
