/** Certificate admission, and the challenges that are answered through DNS. */
import { Layer } from "effect"
import { Admissions } from "./Admissions.ts"
import { AdmissionSweep } from "./AdmissionSweep.ts"
import { CertificateQueue } from "./CertificateQueue.ts"
import { CertificateStandings } from "./CertificateStandings.ts"
import { DnsChallenges } from "./DnsChallenges.ts"

export const layer = Layer.mergeAll(
  Admissions.layer,
  AdmissionSweep.layer,
  CertificateQueue.layer,
  CertificateStandings.layer,
  DnsChallenges.layer
)
