/**
 * The services with which every process of an edge serves connections. The main process makes the other services that they
 * need, which an edge has once; a worker gets those from the main process (see `MainProcessServices`). So the layers of the
 * services below leave open what differs between the two: settings, control plane, certificates, agent keys and audit log.
 */
import { Layer } from "effect"
import { ChannelRoom } from "../channels/ChannelRoom.ts"
import { HomeEdges } from "../channels/HomeEdges.ts"
import { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import { OwnRoom } from "../channels/OwnRoom.ts"
import { WebSocketMembers } from "../channels/WebSocketMembers.ts"
import { ByteAgents } from "../frontdoor/ByteAgents.ts"
import { FrontDoor } from "../frontdoor/FrontDoor.ts"
import { MemberDoors } from "../frontdoor/MemberDoors.ts"
import { VisitorRouter } from "../frontdoor/VisitorRouter.ts"
import { GelbVisits } from "../gelb/GelbVisits.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Orders } from "../orders/Orders.ts"
import { QuicMembers } from "../quic/QuicMembers.ts"
import { QuicPeers } from "../quic/QuicPeers.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { WorkerBroadcast } from "../routes/WorkerBroadcast.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"

/** What listeners, orders, statistics and shutdown reach; each layer brings its own needs, built once for all of them. */
export const layer = Layer.mergeAll(
  FrontDoor.layer,
  MemberDoors.layer,
  WebSocketMembers.layer,
  Orders.layer,
  AgentSessions.layer,
  MuxAgents.layer,
  ByteAgents.layer,
  QuicPeers.layer,
  QuicMembers.layer,
  MemberAdmissions.layer,
  ChannelRoom.layer,
  OwnRoom.layer,
  HomeEdges.layer,
  VisitorRouter.layer,
  GelbVisits.layer,
  Relays.layer,
  Routes.layer,
  Counters.layer,
  ConnectionFaults.layer,
  ListenerHealth.layer,
  WorkerBroadcast.layer
)
