/** Identifies this process to agents, which connect until they have reached every process. Undefined in an edge of one process. */
import type { EdgeProcess } from "@catenet/wire/frames/MuxHello"
import { Context } from "effect"

export class ProcessIdentity extends Context.Service<
  ProcessIdentity,
  { readonly edgeProcess: EdgeProcess | undefined }
>()("edge/sessions/ProcessIdentity") {}
