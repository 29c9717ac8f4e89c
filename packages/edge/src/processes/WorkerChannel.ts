/**
 * One end of the channel between the main process and a worker; messages are checked by their schema. Messages that can no longer
 * be sent are dropped, because the other process is gone.
 */
import { Schema } from "effect"
import type { ChildProcess } from "node:child_process"
import { type ToMain, ToMain as ToMainSchema, type ToWorker, ToWorker as ToWorkerSchema } from "./WorkerMessages.ts"

export interface WorkerChannel<Out, In> {
  readonly send: (message: Out) => void
  readonly receive: (take: (message: In) => void) => void
}

interface ChannelEnd {
  readonly connected: boolean
  readonly send?: ((message: object, done: () => void) => boolean) | undefined
  readonly on: (event: "message", listener: (message: unknown) => void) => unknown
}

/** Ignored: the end of the channel already reports that the other process is gone. */
const ignore = () => undefined

const over = <Out extends object, In>(
  end: ChannelEnd,
  encode: (message: Out) => unknown,
  decode: (message: unknown) => In
): WorkerChannel<Out, In> => ({
  send: (message) => {
    const encoded = encode(message)
    if (end.connected && typeof encoded === "object" && encoded !== null) end.send?.(encoded, ignore)
  },
  receive: (take) => void end.on("message", (message) => take(decode(message)))
})

const writeToWorker = Schema.encodeUnknownSync(ToWorkerSchema)
const readToWorker = Schema.decodeUnknownSync(ToWorkerSchema)
const writeToMain = Schema.encodeUnknownSync(ToMainSchema)
const readToMain = Schema.decodeUnknownSync(ToMainSchema)

/** In the main process. */
export const ofMain = (child: ChildProcess): WorkerChannel<ToWorker, ToMain> => over(child, writeToWorker, readToMain)

/** In a worker. */
export const ofWorker = (end: ChannelEnd): WorkerChannel<ToMain, ToWorker> => over(end, writeToMain, readToWorker)
