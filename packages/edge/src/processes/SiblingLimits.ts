/** Limits between two processes of one edge: as high as possible, because they trust each other. */
import { defaultLimits, type MuxLimits } from "@catenet/wire/transport/MuxLimits"

export const siblingLimits: MuxLimits = { ...defaultLimits, maxStreams: 1_000_000, registrations: 10_000_000 }
