/** Bad links: most of the time of these cases is waiting, so tunnels and members of channels wait together. */
import { describe } from "vitest"
import * as BadLinks from "./BadLinks.ts"
import * as ChannelLinks from "./ChannelLinks.ts"

describe.concurrent("what TCP survives", () => {
  BadLinks.tunnels()
  ChannelLinks.members()
})
