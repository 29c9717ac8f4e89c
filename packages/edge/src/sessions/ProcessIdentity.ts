/**
 * Which process of the edge this is, for agents: they connect until they are in each. Absent in an edge of one process, which
 * says nothing about it.
 */
import type { Place } from "@catenet/wire/frames/MuxHello"
import { Context } from "effect"

export class ProcessIdentity extends Context.Service<ProcessIdentity, { readonly place: Place | undefined }>()(
  "edge/sessions/ProcessIdentity"
) {}
