/** Sentences about the progress of a name towards its certificate, from what the control plane and the agent know. */
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import { timeText } from "@catenet/domain/values/Format"
import { createHash } from "node:crypto"
import type { Texts } from "../../texts/English.ts"

const waits = (texts: Texts, { claim_deadline, held_back, place, queues_again_at }: CertificateStanding) => {
  if (held_back !== null) return texts.certificateHeldBack[held_back]
  if (place !== null) return texts.certificatePlace(place)
  if (claim_deadline !== null) return texts.certificateOffered
  return queues_again_at === null ? undefined : texts.certificateQueuesAgain(timeText(queues_again_at))
}

/** What the agent does comes first; a refusal stays until there is a certificate. */
export const sentences = (texts: Texts, standing: CertificateStanding): ReadonlyArray<string> => {
  const { failure, status, step, step_since } = standing
  const lines = [
    step !== null && step_since !== null
      ? texts.certificateStep(step, timeText(step_since))
      : status === "gelb"
        ? waits(texts, standing)
        : undefined,
    failure === null
      ? undefined
      : texts.certificateRefused(failure.ca, texts.issuanceFailures[failure.reason], timeText(failure.at)),
    failure?.detail ?? undefined
  ]
  return lines.filter((sentence) => sentence !== undefined)
}

/** Changes with whatever the page shows of it. */
export const versionOf = (texts: Texts, standing: CertificateStanding): string =>
  createHash("sha256")
    .update(JSON.stringify([standing.status, standing.claim_deadline, sentences(texts, standing)]))
    .digest("hex")
    .slice(0, 16)
