/** What only the owner of a tunnel sees on its page. */
import type { AccessState } from "@catenet/domain/api/TunnelControlsApi"
import type { AccessRequest } from "@catenet/domain/api/TunnelsApi"
import type { CertificateStanding } from "@catenet/domain/certificates/CertificateStanding"
import type { Alert, AlertDelivery } from "@catenet/domain/tunnels/Alert"
import type { Reachability } from "@catenet/domain/tunnels/Reachability"
import type { ReceiptKey } from "@catenet/domain/tunnels/Receipt"
import type { ShareLink } from "@catenet/domain/tunnels/ShareLink"
import type { Badge } from "@catenet/domain/tunnels/Uptime"
import type { Email } from "@catenet/domain/values/Email"
import type { Answer } from "../../../edges/EdgeFacts.ts"

export interface Controls {
  readonly reach: Reachability | undefined
  readonly alert: Alert | undefined
  readonly deliveries: ReadonlyArray<AlertDelivery>
  readonly badge: Badge
  readonly window: AccessState
  readonly links: ReadonlyArray<ShareLink>
  readonly visitors: ReadonlyArray<Email>
  readonly requests: ReadonlyArray<AccessRequest>
  /** Undefined where the name is not recorded as owned, or there is none. */
  readonly standing: CertificateStanding | undefined
  /** The owner wants no certificate for the name. */
  readonly certificateDeclined: boolean
  readonly receiptKeys: Answer<ReadonlyArray<ReceiptKey>>
  readonly now: number
  /** Of the portal, for addresses that are copied. */
  readonly origin: string
}
