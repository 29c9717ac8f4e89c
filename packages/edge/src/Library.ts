/** The edge as a library for Effect programs: `Edge.layer` and its `Settings`. */
export { Edge } from "./Edge.ts"
export { Settings } from "./settings/Settings.ts"
