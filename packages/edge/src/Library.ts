/** The edge for another Effect program: `Edge.layer`, and the `Settings` that it wants. */
export { Edge } from "./Edge.ts"
export { Settings } from "./settings/Settings.ts"
