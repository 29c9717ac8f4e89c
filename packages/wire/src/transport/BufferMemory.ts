/**
 * Counts the network buffers that pass, so that a program can give their memory back in time. A relay makes a buffer for every
 * read and drops it a moment later, while its young objects hardly grow; so V8 sees only memory outside of its heap that grows,
 * and marks the whole heap for each few dozen MiB of it. A collection of the young objects alone frees the same buffers at a
 * hundredth of that work. V8 offers one behind a flag, which is the program's to set: without its hook nothing is collected here.
 */
import { Buffer } from "node:buffer"
import { Socket, type SocketConstructorOpts } from "node:net"
import type { Readable } from "node:stream"
import { TLSSocket } from "node:tls"

/** V8 marks its heap when that and the memory outside have grown by 8 MiB; the sweep of what was collected comes later. */
const stepBytes = 6 * 1024 * 1024
/** Every read of the system is given 64 KiB by the runtime, however little comes; what it does not need goes back too late. */
const minBytes = 64 * 1024

let collect: () => void = () => {}
let since = 0

/** Sets what this process does each time that some mebibytes have passed: a collection of its young objects. */
export const collectWith = (hook: () => void): void => {
  collect = hook
}

let room: Buffer | undefined

/**
 * A socket whose reads take as much memory as they bring: all such sockets of the process read into the same room, one after the
 * other, and what came is copied from there.
 */
export class SharedReadSocket extends Socket {
  constructor(options: SocketConstructorOpts) {
    const shared = (room ??= Buffer.allocUnsafeSlow(minBytes))
    const callback = (length: number): boolean => this.push(Buffer.from(shared.subarray(0, length)))
    super({ ...options, onread: { buffer: shared, callback } })
  }
}

/** What a chunk of the stream costs at least. What TLS has decrypted, and what is part of that, comes in buffers of its size. */
export const minOf = (stream: Readable): number =>
  stream instanceof Socket && !(stream instanceof TLSSocket || stream instanceof SharedReadSocket) ? minBytes : 0

/** Counts a chunk that passed through this process. */
export const passed = (bytes: number, least = minBytes): void => {
  since += Math.max(bytes, least)
  if (since < stepBytes) return
  since = 0
  collect()
}

/** Counts all that is read from the stream. Its reader must listen before the next turn of the event loop. */
export const countReads = (stream: Readable): void => {
  stream.on("data", (chunk: Uint8Array) => passed(chunk.length))
}
