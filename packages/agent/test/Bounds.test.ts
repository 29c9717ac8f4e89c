/**
 * Everything that others can make grow in an agent, with how far. What is measured against a peer that floods stands in
 * `onboard/UntrustedAnswers` (answers), `fuzz/Listeners` (listeners) and the wire package's `transport/Bounds` (streams).
 */
import { maxHelloBytes } from "@catenet/wire/frames/ClientHello"
import { heldBytes } from "@catenet/wire/transport/FrameReader"
import { defaultLimits } from "@catenet/wire/transport/MuxLimits"
import { assert, describe, it } from "vitest"
import { longestLine } from "../src/channel/mcp/StdioTransport.ts"
import { maxWaiting } from "../src/channel/rpc/MessageReader.ts"
import * as Notification from "../src/channel/rpc/Notification.ts"
import * as HandlerProcess from "../src/channel/serve/HandlerProcess.ts"
import * as DirectPath from "../src/channel/session/DirectPath.ts"
import * as PortForward from "../src/connect/PortForward.ts"
import * as DirectListener from "../src/mesh/DirectListener.ts"
import * as UdpRelay from "../src/mesh/UdpRelay.ts"
import * as EventRing from "../src/observe/EventRing.ts"
import { longestAnswer } from "../src/onboard/OutgoingHttp.ts"
import { longestHead } from "../src/tunnel/FirstRequestHead.ts"

const KiB = 1024
const MiB = 1024 * KiB

const bounds: ReadonlyArray<readonly [what: string, is: number, shallBe: number]> = [
  ["bytes of a control plane's answer", longestAnswer, 64 * KiB],
  ["bytes held before a frame that is asked for", heldBytes, 64 * KiB],
  ["bytes of a visitor's ClientHello", maxHelloBytes, 64 * KiB],
  ["bytes of a visitor's first request head", longestHead, 64 * KiB],
  ["streams of a session with the edge", defaultLimits.maxStreams, 8192],
  ["unread bytes of a fresh stream", defaultLimits.initialWindow, 256 * KiB],
  ["unread bytes of a stream", defaultLimits.window, MiB],
  ["unread bytes of a session", defaultLimits.receiveLimit, 256 * MiB],
  ["direct clients that have proved nothing", DirectListener.maxStrangers, 64],
  ["direct clients", DirectListener.maxClients, 8192],
  ["peers at a channel's listener that have proved nothing", DirectPath.maxStrangers, 64],
  ["bytes of datagrams for the origin", UdpRelay.longestQueue, MiB],
  ["datagrams that wait for their session", PortForward.maxWaiting, 64],
  ["sessions of forwarded datagrams", PortForward.maxSessions, 1024],
  ["local connections that are forwarded", PortForward.maxClients, 4096],
  ["requests of a peer that wait for their turn", maxWaiting, 64],
  ["bytes of a local MCP program's message", longestLine, 16 * MiB],
  ["calls of a session that run at once", Notification.maxAtOnce, 64],
  ["bytes of a service command's answer", HandlerProcess.longestAnswer, MiB],
  ["bytes of its stderr that a failure shows", HandlerProcess.tailBytes, 2 * KiB],
  ["bytes of the event ring", EventRing.capBytes, MiB]
]

describe("what may grow", () => {
  for (const [what, is, shallBe] of bounds)
    it(`${what}: ${shallBe}`, () => {
      assert.strictEqual(is, shallBe)
    })
})
