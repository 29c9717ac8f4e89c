/** Sentences about values of `channel` that are legal but probably not meant, or have no effect beside the others. Pure. */
import { clause } from "@catenet/domain/values/Sentence"
import type * as VariableReader from "@catenet/platform/VariableReader"
import type * as Variables from "./Variables.ts"

type Values = VariableReader.Values<typeof Variables.channel>

/** Those of the other mode, or of a role that does not need them. */
const outOfPlace = (values: Values) => {
  const { advertise, broker, channel, frontDoor, frontDoorCertificate, frontDoorOnly, grant, listen, relayOnly } =
    values
  const noBroker = "without CT_CHANNEL_BROKER, in direct mode"
  const isDirect = broker === undefined
  const ofBroker = {
    CT_CHANNEL_GRANT: grant,
    CT_CHANNEL_ID: channel,
    CT_CHANNEL_LISTEN: listen,
    CT_CHANNEL_ADVERTISE: advertise,
    CT_CHANNEL_RELAY_ONLY: relayOnly?.isOn === true ? relayOnly : undefined,
    CT_CHANNEL_FRONT_DOOR: frontDoor,
    CT_CHANNEL_FRONT_DOOR_CERT: frontDoorCertificate,
    CT_CHANNEL_FRONT_DOOR_ONLY: frontDoorOnly?.isOn === true ? frontDoorOnly : undefined,
    CT_CHANNEL_WEBSOCKET: values.webSocket,
    CT_CHANNEL_RELAY_GATE: values.relayGate,
    CT_CHANNEL_DIRECT_UPGRADE: values.directUpgrade?.isOn === true ? values.directUpgrade : undefined,
    CT_CHANNEL_CIRCUIT_RELAY: values.circuitRelay,
    CT_CHANNEL_RELAY_GATE_CERT: values.relayGateCertificate
  }
  const isServing = values.serve?.isOn === true
  const alone = relayOnly?.isOn === true && "with CT_CHANNEL_RELAY_ONLY=1, which opens no listener"
  const reasons: Record<string, string | false> = {
    ...(isDirect
      ? Object.fromEntries(Object.entries(ofBroker).map(([name, value]) => [name, value !== undefined && noBroker]))
      : {
          CT_CHANNEL_ADDR: values.address !== undefined && "beside CT_CHANNEL_BROKER, which says where the peer is met",
          CT_CHANNEL_PEER_CERT:
            values.peerCertificate !== undefined && "beside CT_CHANNEL_BROKER: the peer proves its Noise key",
          CT_CHANNEL_LISTEN: listen !== undefined && alone,
          CT_CHANNEL_ADVERTISE: advertise !== undefined && alone,
          CT_CHANNEL_CIRCUIT_RELAY:
            values.circuitRelay !== undefined &&
            (values.relayGate !== undefined
              ? "beside CT_CHANNEL_RELAY_GATE"
              : relayOnly?.isOn !== true && "without CT_CHANNEL_RELAY_ONLY=1"),
          CT_CHANNEL_RELAY_GATE_CERT:
            values.relayGateCertificate !== undefined &&
            values.relayGate === undefined &&
            "without CT_CHANNEL_RELAY_GATE"
        }),
    CT_AGENT_SERVICE_HANDLER_CMD:
      values.handlerCommand !== undefined &&
      values.streamCommand !== undefined &&
      "with CT_AGENT_STREAM_HANDLER_CMD, which gets every session",
    CT_AGENT_STREAM_HANDLER_CMD: values.streamCommand !== undefined && !isServing && "without CT_CHANNEL_SERVE=1",
    CT_AGENT_STREAM_SERVICE:
      values.streamService !== undefined && values.streamCommand === undefined && "without CT_AGENT_STREAM_HANDLER_CMD",
    CT_AGENT_SERVICES:
      values.services !== undefined && values.handlerCommand === undefined && "without CT_AGENT_SERVICE_HANDLER_CMD",
    CT_CHANNEL_CALL:
      values.call !== undefined &&
      values.callService !== undefined &&
      "beside CT_CHANNEL_CALL_SERVICE, which is called",
    CT_CHANNEL_CALL_PARAMS:
      values.callParams !== undefined &&
      values.call === undefined &&
      (values.callService === undefined
        ? "without CT_CHANNEL_CALL"
        : "with CT_CHANNEL_CALL_SERVICE, whose input is stdin")
  }
  return Object.entries(reasons)
}

/** Sentences about values that are legal but probably not meant. */
export const warningsOf = (values: VariableReader.Values<typeof Variables.channel>): ReadonlyArray<string> => {
  const switches = {
    CT_CHANNEL_RELAY_ONLY: values.relayOnly,
    CT_CHANNEL_FRONT_DOOR_ONLY: values.frontDoorOnly,
    CT_CHANNEL_DIRECT_UPGRADE: values.directUpgrade,
    CT_CHANNEL_SERVE: values.serve
  }
  const warnings: Array<string> = []
  for (const [name, value] of Object.entries(switches))
    if (value?.isOn === false && !/^(?:0|false|no|off)$/i.test(value.text))
      warnings.push(`${name}=${value.text} counts as no. Set ${name}=1 to switch it on.`)
  if (values.broker !== undefined && values.frontDoorCertificate === undefined)
    warnings.push(
      "CT_CHANNEL_FRONT_DOOR_CERT is not set: the edge's certificate is not checked, and the front door is not tried. Set it to the root from /pki/ca."
    )
  if (values.frontDoorCertificate !== undefined && values.frontDoor === undefined && values.broker !== undefined)
    warnings.push("CT_CHANNEL_FRONT_DOOR is not set: only broker and relay are tried.")
  if (values.bridgePeer !== undefined && values.bridgePeer.key === undefined)
    warnings.push("CT_CHANNEL_BRIDGE_PEER is not 64 hex digits: the bridge tools are not offered.")
  for (const [name, why] of outOfPlace(values))
    if (why !== false) warnings.push(`${name} has no effect ${clause(why)}.`)
  return warnings
}
