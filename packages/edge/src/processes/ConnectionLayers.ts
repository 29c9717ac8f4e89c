/**
 * The services with which every process of an edge serves connections. The services that an edge has once are built by the main
 * process, and workers use them through it (see `MainProcessServices`). So these layers do not provide what differs between the
 * two: settings, control plane, certificates, agent keys and audit log.
 */
import { Layer } from "effect"
import { ChannelPlacement } from "../channels/ChannelPlacement.ts"
import { ChannelRoom } from "../channels/ChannelRoom.ts"
import { LocalRoom } from "../channels/LocalRoom.ts"
import { MemberAdmissions } from "../channels/MemberAdmissions.ts"
import { WebSocketMembers } from "../channels/WebSocketMembers.ts"
import { ChannelListeners } from "../frontdoor/ChannelListeners.ts"
import { FrontDoor } from "../frontdoor/FrontDoor.ts"
import { SlotProtocol } from "../frontdoor/SlotProtocol.ts"
import { VisitorRouter } from "../frontdoor/VisitorRouter.ts"
import { ListenerHealth } from "../listen/ListenerHealth.ts"
import { VisitorPlaces } from "../listen/VisitorPlaces.ts"
import { ConnectionFaults } from "../observe/ConnectionFaults.ts"
import { Counters } from "../observe/Counters.ts"
import { Orders } from "../orders/Orders.ts"
import { PortVisits } from "../ports/PortVisits.ts"
import { QuicMembers } from "../quic/QuicMembers.ts"
import { QuicPeers } from "../quic/QuicPeers.ts"
import { Relays } from "../relay/Relays.ts"
import { Routes } from "../routes/Routes.ts"
import { WorkerBroadcast } from "../routes/WorkerBroadcast.ts"
import { AgentSessions } from "../sessions/AgentSessions.ts"
import { MuxAgents } from "../sessions/MuxAgents.ts"
import { TerminatedConnections } from "../terminate/TerminatedConnections.ts"

/** The services that listeners, orders, statistics and shutdown use; shared dependencies are built once. */
export const layer = Layer.mergeAll(
  FrontDoor.layer,
  ChannelListeners.layer,
  WebSocketMembers.layer,
  Orders.layer,
  AgentSessions.layer,
  MuxAgents.layer,
  SlotProtocol.layer,
  QuicPeers.layer,
  QuicMembers.layer,
  MemberAdmissions.layer,
  ChannelRoom.layer,
  LocalRoom.layer,
  ChannelPlacement.layer,
  VisitorRouter.layer,
  VisitorPlaces.layer,
  PortVisits.layer,
  TerminatedConnections.layer,
  Relays.layer,
  Routes.layer,
  Counters.layer,
  ConnectionFaults.layer,
  ListenerHealth.layer,
  WorkerBroadcast.layer
)
