/**
 * The control plane for another Effect program: `Server` as a layer of its own or as routes of the host's router, the
 * `Settings` that it wants, the host's `Authentication`, and the services that a program calls without HTTP.
 */
export { Channels } from "./channels/Channels.ts"
export * as Authentication from "./identity/Authentication.ts"
export { ServiceAccounts } from "./identity/ServiceAccounts.ts"
export * as Server from "./Server.ts"
export { Settings } from "./settings/Settings.ts"
export { Tunnels } from "./tunnels/Tunnels.ts"
