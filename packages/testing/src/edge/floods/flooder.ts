/**
 * A process of its own that floods: each message names the kind that runs from then on, or none. One that yields
 * takes what others leave of the processor, as one on another machine would.
 */
import { constants, setPriority } from "node:os"
import { Flood, type Target } from "./Flood.ts"
import { isKind, kinds } from "./Kinds.ts"

const target: Target = JSON.parse(process.argv[2] ?? "{}")
if (target.yields) setPriority(constants.priority.PRIORITY_LOW)
let flood: Flood | undefined

process.on("message", (kind) => {
  flood?.stop()
  const connections = flood?.connections ?? 0
  flood = isKind(kind) ? new Flood(target) : undefined
  if (flood !== undefined && isKind(kind)) void kinds[kind](flood)
  process.send?.(connections)
})
process.on("disconnect", () => process.exit())
process.send?.(0)
