/** Refusals between edges and the control plane. */
import { Problem } from "../values/Problem.ts"

/** The holder is neither a keyed member of the channel nor authorized by a bound topology with a Noise key on record. */
export class MemberNotAdmitted extends Problem<MemberNotAdmitted>()("MemberNotAdmitted", {
  status: 404,
  title: "Not admitted",
  detail: () => "This holder is not admitted to this channel."
}) {}

/** The edge has a pinned key, and the heartbeat does not prove it. */
export class HeartbeatRefused extends Problem<HeartbeatRefused>()("HeartbeatRefused", {
  status: 403,
  title: "Heartbeat refused",
  detail: () => "This edge id is pinned to a key that did not sign the heartbeat."
}) {}

/** A heartbeat carries key and signature together or neither. */
export class HeartbeatProofIncomplete extends Problem<HeartbeatProofIncomplete>()("HeartbeatProofIncomplete", {
  status: 400,
  title: "Heartbeat proof incomplete",
  detail: () => "pubkey and signature come together or not at all."
}) {}

/** A look-up names a token or a host, one of the two. */
export class LookupAmbiguous extends Problem<LookupAmbiguous>()("LookupAmbiguous", {
  status: 400,
  title: "Look-up ambiguous",
  detail: () => "Name either token or host."
}) {}

/** No live edge serves this token or host name. */
export class NoLiveEdge extends Problem<NoLiveEdge>()("NoLiveEdge", {
  status: 404,
  title: "No live edge",
  detail: () => "No live edge serves this tunnel."
}) {}

/** No edge has this id. */
export class EdgeUnknown extends Problem<EdgeUnknown>()("EdgeUnknown", {
  status: 404,
  title: "Edge unknown",
  detail: () => "No edge with this id has reported."
}) {}
