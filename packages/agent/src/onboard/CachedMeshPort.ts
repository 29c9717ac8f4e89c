/**
 * Caches the mesh port of the control plane for a start at which it does not answer. Never fails: without a cached port the
 * agent tries the standard one.
 */
import { Effect } from "effect"
import * as PrivateFile from "../state/PrivateFile.ts"

const standardMeshPort = 4433

const fileIn = (folder: string) => `${folder}/mesh-port`

const parse = (text: string) => {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0
  return port > 0 && port <= 65_535 ? port : undefined
}

/** The port cached in the state folder, else the standard one. */
export const read = (folder: string) =>
  PrivateFile.read(fileIn(folder)).pipe(
    Effect.map((bytes) => parse(new TextDecoder().decode(bytes)) ?? standardMeshPort),
    Effect.orElseSucceed(() => standardMeshPort)
  )

/** A folder that cannot be written fails at the writes that need it. */
export const write = (folder: string, port: number) =>
  PrivateFile.folder(folder).pipe(
    Effect.andThen(PrivateFile.replaceAll([{ path: fileIn(folder), bytes: new TextEncoder().encode(String(port)) }])),
    Effect.ignore
  )
