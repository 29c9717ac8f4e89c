/**
 * Reports progress of a certificate order: to the control plane, which lets the agents of a tunnel order one at a time, and to
 * log and status.
 */
import type { CertificateStanding, IssuanceStep } from "@catenet/domain/certificates/CertificateStanding"
import { ordinal, timeText } from "@catenet/domain/values/Format"
import { Effect, type FileSystem } from "effect"
import { createHash, createPublicKey } from "node:crypto"
import type { StateUnusable } from "../Failure.ts"
import * as Folder from "./CertificateFolder.ts"
import { CertificateQueueClient, type Asked } from "./CertificateQueueClient.ts"

export interface CertificateProgress {
  /** False if another agent of the tunnel has an open order. */
  readonly step: (step: IssuanceStep) => Effect.Effect<boolean, StateUnusable, FileSystem.FileSystem>
  /** `words` continue "the certificate". */
  readonly report: (message: string, log?: typeof Effect.logInfo) => Effect.Effect<void>
}

/** The current step; each text continues "the certificate". */
export const doing: Readonly<Record<IssuanceStep, string | undefined>> = {
  waiting: undefined,
  ordering: "is being ordered",
  proving: "is being ordered: the name is proved to the authority",
  "waiting-for-dns": "is being ordered: waiting for DNS to show the proof of the name",
  "waiting-for-ca": "is being ordered: waiting for the authority to decide",
  installing: "is there: CT_ACME_RELOAD_CMD is being run"
}

/** The state of a name as people read it; `gelb` and `gruen` are the stored values. */
export const tierText = (status: string): string =>
  status === "gelb" ? "edge-terminated (gelb)" : status === "gruen" ? "end-to-end (gruen)" : status

/** Why no certificate can be ordered, as the control plane sees it; continues "the name". */
export const waiting = ({ held_back, place, queues_again_at, step }: CertificateStanding): string => {
  if (held_back === "declined") return "gets none: its owner declined one in the portal"
  if (held_back === "guarded")
    return "gets none while its visitors are restricted (login or HTTP only) and no agent enforces that"
  if (place !== null) return `is ${ordinal(place)} in the queue`
  if (queues_again_at !== null) return `let its turn pass, and queues again at ${timeText(queues_again_at)} UTC`
  return step === null ? "waits for its turn" : "is being proved by another agent of this tunnel"
}

/** The same for all processes that have this account's key; 16 hex digits. */
const nameOf = Effect.fnUntraced(function* (places: Folder.Places) {
  const key = createPublicKey(yield* Folder.accountKey(places)).export({ type: "spki", format: "der" })
  return createHash("sha256").update(key).digest("hex").slice(0, 16)
})

/** `show` is called when the text changes. */
export const make = Effect.fnUntraced(function* (
  asked: Asked,
  places: Folder.Places,
  show: (message: string) => void = () => undefined
): Effect.fn.Return<CertificateProgress, never, CertificateQueueClient> {
  const { progress } = yield* CertificateQueueClient
  let last: string | undefined
  const report: CertificateProgress["report"] = (message, log = Effect.logInfo) =>
    Effect.suspend(() => {
      if (message === last) return Effect.void
      last = message
      show(message)
      return log(`the certificate of ${asked.hostname} ${message}`)
    })
  return {
    report,
    step: Effect.fnUntraced(function* (step) {
      const message = doing[step]
      const saying = message === undefined ? Effect.void : report(message)
      const isQuestion = step === "ordering"
      if (!isQuestion) yield* saying
      const yours = yield* progress(asked, { step, agent: yield* nameOf(places) })
      if (isQuestion && yours) yield* saying
      return yours
    })
  }
})
