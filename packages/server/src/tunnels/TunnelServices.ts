/** Tunnels with their switches, share links and the sessions of their visitors. */
import { Layer } from "effect"
import { AccessWindows } from "./AccessWindows.ts"
import { CertificateOptOuts } from "./CertificateOptOuts.ts"
import { GateSessions } from "./GateSessions.ts"
import { HttpOnly } from "./HttpOnly.ts"
import { ShareLinks } from "./ShareLinks.ts"
import { TokenRotations } from "./TokenRotations.ts"
import { Tunnels } from "./Tunnels.ts"
import { TunnelSharing } from "./TunnelSharing.ts"

export const layer = Layer.mergeAll(
  AccessWindows.layer,
  CertificateOptOuts.layer,
  GateSessions.layer,
  HttpOnly.layer,
  ShareLinks.layer,
  TokenRotations.layer,
  TunnelSharing.layer,
  Tunnels.layer
)
