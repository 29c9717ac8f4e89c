/** What two processes of one edge allow each other: all that both can carry, for neither is a stranger to the other. */
import { defaultLimits, type MuxLimits } from "@catenet/wire/transport/MuxLimits"

export const siblingLimits: MuxLimits = { ...defaultLimits, maxStreams: 1_000_000, registrations: 10_000_000 }
