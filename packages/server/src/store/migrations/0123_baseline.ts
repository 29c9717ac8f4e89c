/**
 * The schema of the first release: tables, indexes, functions and triggers, by area. It has the number of the last step by
 * which it was developed, so that a database of that step is up to date; an older one of development is made anew.
 */
import * as alerts from "./baseline/alerts.ts"
import * as billing from "./baseline/billing.ts"
import * as certificates from "./baseline/certificates.ts"
import * as channels from "./baseline/channels.ts"
import * as edges from "./baseline/edges.ts"
import * as enrollment from "./baseline/enrollment.ts"
import * as identity from "./baseline/identity.ts"
import * as topologies from "./baseline/topologies.ts"
import * as tunnels from "./baseline/tunnels.ts"
import * as Statements from "./Statements.ts"

/** Areas in the order of their foreign keys. */
export const up = Statements.of(
  ...[identity, billing, edges, tunnels, enrollment, alerts, certificates, channels, topologies].flatMap(
    ({ statements }) => statements
  )
)
