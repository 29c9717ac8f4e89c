/** How much of each kind may be kept: one constant for each, which the server counts by before it inserts. */

/** Requests to be let in that wait at one tunnel. */
export const mostAccessRequestsOfTunnel = 200
/** Those of them that came from one block of addresses: an IPv4 address, or a /64 of IPv6. */
export const mostAccessRequestsOfBlock = 5
/** Seconds for which a request to be let in waits. */
export const accessRequestSeconds = 30 * 86_400
