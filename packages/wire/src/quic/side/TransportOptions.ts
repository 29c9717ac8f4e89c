/**
 * How connections are tuned.
 * @internal
 */
import type { Transport } from "../link/LinkFrame.ts"

/** The options of an end of a connection. The protocols of the platform name no ALPN and use no unidirectional streams. */
export const optionsOf = ({ idle, keepAlive, streams }: Transport) => ({
  alpnProtocols: [],
  keepAliveInterval: keepAlive,
  maxIdleTimeout: idle,
  maxConcurrentBidirectionalStreams: streams,
  maxConcurrentUnidirectionalStreams: 0
})
