/**
 * Which process of the edge this is, for agents: they connect until they are in each. Absent in an edge of one process, which
 * says nothing about it.
 */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Context } from "effect"

export class ProcessIdentity extends Context.Service<
  ProcessIdentity,
  { readonly edgeProcess: EdgeProcess | undefined }
>()("edge/sessions/ProcessIdentity") {}
