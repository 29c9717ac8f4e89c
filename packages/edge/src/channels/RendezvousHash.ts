/** Which edge a channel is at home at: rendezvous hashing, so that all edges agree and few channels move when one comes or goes. */
import { createHash } from "node:crypto"

const scoreOf = (channel: string, edge: string) => createHash("sha256").update(`${channel} ${edge}`).digest("hex")

/** The edges in the order in which the channel prefers them. */
export const ranked = (channel: string, edges: Iterable<string>): ReadonlyArray<string> =>
  Array.from(edges, (edge) => [scoreOf(channel, edge), edge] as const)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([, edge]) => edge)
