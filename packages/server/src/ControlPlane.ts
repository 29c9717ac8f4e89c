/** The control plane for another Effect program: the server as a layer, and the settings that it wants. */
export * as Server from "./Server.ts"
export { Settings } from "./settings/Settings.ts"
