/**
 * What the QUIC process uses of its runtime. The interface is marked unstable there, so that it is kept in one place, with the
 * version that `package.json` pins (types of `deno types`, 2.9.6).
 * @internal
 */
export interface Closing {
  readonly closeCode: number
  readonly reason: string
  /** Nothing came within the idle timeout. */
  readonly isIdle?: boolean
}

export interface SendStream extends WritableStream<Uint8Array> {
  readonly id: bigint
}

export interface QuicStream {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: SendStream
}

interface NetAddress {
  readonly hostname: string
  readonly port: number
}

export interface Connection {
  readonly remoteAddr: NetAddress
  readonly handshake: Promise<void>
  readonly closed: Promise<Closing>
  readonly incomingBidirectionalStreams: ReadableStream<QuicStream>
  readonly createBidirectionalStream: () => Promise<QuicStream>
  readonly close: (closing: Closing) => void
}

/** Each member but one can be used once: whatever is read of it, its address too, ends it (2.9.6). */
export interface Incoming {
  readonly accept: (options: { readonly zeroRtt: true }) => Connection
}

interface TransportOptions {
  /** The runtime wants one on each side; none at all is spoken with an empty list. */
  readonly alpnProtocols: ReadonlyArray<string>
  readonly keepAliveInterval: number
  readonly maxIdleTimeout: number
  readonly maxConcurrentBidirectionalStreams: number
  readonly maxConcurrentUnidirectionalStreams: number
}

export interface Listener extends AsyncIterable<Incoming> {
  readonly stop: () => void
}

export interface QuicEndpoint {
  readonly addr: NetAddress
  readonly listen: (options: TransportOptions & { readonly cert: string; readonly key: string }) => Listener
  readonly close: () => void
}

interface Runtime {
  readonly QuicEndpoint: new (at: NetAddress) => QuicEndpoint
  readonly connectQuic: (
    options: TransportOptions &
      NetAddress & {
        readonly serverName: string
        readonly caCerts: ReadonlyArray<string>
        readonly endpoint: QuicEndpoint
      }
  ) => Promise<Connection>
  readonly exit: (code: number) => never
}

export const runtime: Runtime = (globalThis as unknown as { readonly Deno: Runtime }).Deno
