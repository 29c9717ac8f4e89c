/** What every process of an edge serves connections with, over what only the main one has or a worker is told. */
import { Layer } from "effect"
import { Orders } from "../orders/Orders.ts"
import { FrontDoor } from "../frontdoor/FrontDoor.ts"
import { PlatformHosts } from "../frontdoor/PlatformHosts.ts"
import { Visits } from "../frontdoor/VisitorRouter.ts"
import { GelbVisits } from "../gelb/GelbVisits.ts"
import { ResetBudget } from "../gelb/ResetBudget.ts"
import { LoginGate } from "../gelb/LoginGate.ts"
import { MeshClients } from "../mesh/MeshClients.ts"
import { PeerEdges } from "../mesh/PeerEdges.ts"
import { PeerVisitors } from "../frontdoor/PeerVisitors.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Health } from "../listen/ListenerHealth.ts"
import { Followers } from "../routes/WorkerBroadcast.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { Admissions } from "../sessions/Admissions.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { ByteAgents } from "../frontdoor/ByteAgents.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { ProofReports } from "../sessions/ProofReports.ts"
import { UnnamedParks } from "../sessions/UnnamedParks.ts"

export const parts = Layer.mergeAll(FrontDoor.layer, Orders.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(MuxAgents.layer, ByteAgents.layer, PlatformHosts.layer)),
  Layer.provideMerge(PeerVisitors.layer),
  Layer.provideMerge(Visits.layer),
  Layer.provideMerge(Layer.mergeAll(MeshClients.layer, GelbVisits.layer, PeerEdges.layer)),
  Layer.provideMerge(Layer.mergeAll(AgentSessions.layer, Admissions.layer, Relays.layer)),
  Layer.provideMerge(Layer.mergeAll(ProofReports.layer, LoginGate.layer, ResetBudget.layer, UnnamedParks.layer)),
  Layer.provideMerge(ConnectionFaults.layer),
  Layer.provideMerge(Layer.mergeAll(Routes.layer, Counters.layer, Health.layer, Followers.layer))
)
