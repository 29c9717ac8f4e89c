/** Milliseconds of silence after which the system asks whether the peer of a TCP connection is still there. */
export const keepAliveMillis = 20_000
