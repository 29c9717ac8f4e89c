/** What the tests use of @grpc/grpc-js, which is not among the dependencies of the workspace. */
import type { EventEmitter } from "node:events"
import type { Duplex } from "node:stream"

export interface Metadata {
  readonly get: (name: string) => ReadonlyArray<string | Buffer>
  readonly set: (name: string, value: string) => void
}

export interface Call extends Duplex {
  readonly metadata: Metadata
  readonly request: Buffer
}

export interface ClientCall extends Duplex {
  readonly cancel: () => void
  on(event: "status", listener: (status: { readonly code: number; readonly metadata: Metadata }) => void): this
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as EventEmitter has it
  on(event: string, listener: (...args: Array<any>) => void): this
}

type Answer = (error: Error | null, answer: Buffer) => void

export interface Client {
  readonly close: () => void
  readonly Unary: (request: Buffer, answer: Answer) => ClientCall
  readonly Refuse: (request: Buffer, answer: Answer) => ClientCall
  readonly Down: (request: Buffer) => ClientCall
  readonly Up: (answer: Answer) => ClientCall
  readonly Both: () => ClientCall
}

export interface Grpc {
  readonly Metadata: new () => Metadata
  readonly Server: new () => EventEmitter & {
    readonly addService: (service: object, handlers: object) => void
    readonly bindAsync: (at: string, by: unknown, done: (error: Error | null, port: number) => void) => void
    readonly forceShutdown: () => void
  }
  readonly ServerCredentials: {
    readonly createInsecure: () => unknown
    readonly createSsl: (roots: null, pairs: ReadonlyArray<object>) => unknown
  }
  readonly credentials: { readonly createSsl: (roots: Buffer) => unknown }
  readonly makeGenericClientConstructor: (
    service: object,
    name: string
  ) => new (target: string, by: unknown, options: object) => Client
}
