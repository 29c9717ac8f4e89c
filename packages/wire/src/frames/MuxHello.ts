/**
 * First frame of either side of the multiplexed carrier: the versions it speaks and what it is ready to receive.
 * The edge's hello carries the challenge that an agent's proof of possession answers.
 */
import { Result } from "effect"
import { Buffer } from "node:buffer"
import { type Malformed, malformed, view } from "./Frame.ts"
import { decodeFields, encodeFields, type Field, type Fields, readBytes, readU32, u32 } from "./MuxFields.ts"

/** The version this code speaks. */
export const muxVersion = 1
export const challengeBytes = 32
/** Largest window or credit, so that sums stay exact everywhere. */
export const maxWindow = 2 ** 31 - 1

/** Which of the processes of an edge took the connection. An edge of one process says nothing about it. */
export interface EdgeProcess {
  /** 8 bytes that name the running edge. */
  readonly edge: Uint8Array
  /** From 0 to one less than `processes`. */
  readonly process: number
  readonly processes: number
}

export interface MuxHello {
  /** Lowest and highest version the sender speaks. */
  readonly lowest: number
  readonly version: number
  /** Streams the sender lets its peer have open at a time. */
  readonly maxStreams: number
  /** Bytes the sender takes on a fresh stream before it gives credit. */
  readonly initialWindow: number
  readonly challenge?: Uint8Array
  readonly edgeProcess?: EdgeProcess
  /** Registrations that the sender takes on this session; an acceptor of before says nothing about it, and takes one. */
  readonly maxRegistrations?: number
}

/** The part of an acceptor's hello that a registration needs. */
export type AcceptorHello = Pick<MuxHello, "challenge" | "edgeProcess" | "maxRegistrations">

const magic = Buffer.from("catenet-mux", "latin1")
const tags = { maxStreams: 1, initialWindow: 2, challenge: 3, edgeProcess: 4, maxRegistrations: 5 } as const

const edgeBytes = 8
const edgeProcessBytes = edgeBytes + 8
/** More than any machine has; a peer that claims more is not believed. */
const maxProcesses = 1024

const encodeEdgeProcess = ({ edge, process, processes }: EdgeProcess) =>
  Buffer.concat([edge, u32(process), u32(processes)])

/** `undefined` also for impossible numbers: they are a hint, so wrong ones are no reason to refuse the session. */
const readEdgeProcess = (fields: Fields): EdgeProcess | undefined => {
  const bytes = readBytes(fields, tags.edgeProcess, edgeProcessBytes)
  if (bytes === undefined) return undefined
  const [process, processes] = [view(bytes).readUInt32BE(edgeBytes), view(bytes).readUInt32BE(edgeBytes + 4)]
  if (process >= processes || processes > maxProcesses) return undefined
  return { edge: bytes.subarray(0, edgeBytes), process, processes }
}

export const encodeHello = (hello: MuxHello): Buffer => {
  const fields: Array<Field> = [
    [tags.maxStreams, u32(hello.maxStreams)],
    [tags.initialWindow, u32(hello.initialWindow)]
  ]
  if (hello.challenge !== undefined) fields.push([tags.challenge, hello.challenge])
  if (hello.edgeProcess !== undefined) fields.push([tags.edgeProcess, encodeEdgeProcess(hello.edgeProcess)])
  if (hello.maxRegistrations !== undefined) fields.push([tags.maxRegistrations, u32(hello.maxRegistrations)])
  return Buffer.concat([magic, Buffer.from([hello.lowest, hello.version]), encodeFields(fields)])
}

export const decodeHello = (bytes: Uint8Array): Result.Result<MuxHello, Malformed> => {
  const buffer = view(bytes)
  const lowest = buffer[magic.length]
  const version = buffer[magic.length + 1]
  if (lowest === undefined || version === undefined) return malformed("hello too short")
  if (!buffer.subarray(0, magic.length).equals(magic)) return malformed("not a hello")
  if (lowest === 0 || version < lowest) return malformed("hello versions")
  const fields = decodeFields(buffer.subarray(magic.length + 2))
  if (fields === undefined) return malformed("hello fields")
  const maxStreams = readU32(fields, tags.maxStreams)
  const initialWindow = readU32(fields, tags.initialWindow)
  if (maxStreams === undefined || initialWindow === undefined) return malformed("hello settings")
  if (initialWindow === 0 || initialWindow > maxWindow) return malformed("hello window")
  const challenge = readBytes(fields, tags.challenge, challengeBytes)
  const edgeProcess = readEdgeProcess(fields)
  const maxRegistrations = readU32(fields, tags.maxRegistrations)
  return Result.succeed({
    lowest,
    version,
    maxStreams,
    initialWindow,
    ...(challenge && { challenge }),
    ...(edgeProcess && { edgeProcess }),
    ...(maxRegistrations !== undefined && { maxRegistrations })
  })
}

/** The version both speak, if there is one. */
export const agreedVersion = (
  ours: Pick<MuxHello, "lowest" | "version">,
  theirs: Pick<MuxHello, "lowest" | "version">
): number | undefined => {
  const version = Math.min(ours.version, theirs.version)
  return version >= Math.max(ours.lowest, theirs.lowest) ? version : undefined
}
