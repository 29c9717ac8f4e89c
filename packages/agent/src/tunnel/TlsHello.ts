/** Whether a client's first bytes are a TLS ClientHello (agent.md 5.4). */

const headerBytes = 5
const shortest = 6
const longest = 18_432

/** A handshake record of TLS 1.0 to 1.3 whose first message, as far as it is there, is a ClientHello. */
export const isTlsHello = (bytes: Uint8Array): boolean => {
  const [type, major, minor = 0xff, high = 0, low = 0, message] = bytes
  const length = high * 256 + low
  return (
    bytes.length >= headerBytes &&
    type === 0x16 &&
    major === 0x03 &&
    minor <= 0x04 &&
    length >= shortest &&
    length <= longest &&
    (message === undefined || message === 0x01)
  )
}

/** Whether these are too few bytes to decide. */
export const isUndecided = (bytes: Uint8Array): boolean => {
  const [type, major, minor, high] = bytes
  return (
    bytes.length < headerBytes &&
    (type === undefined || type === 0x16) &&
    (major === undefined || major === 0x03) &&
    (minor === undefined || minor <= 0x04) &&
    (high === undefined || high * 256 <= longest)
  )
}
