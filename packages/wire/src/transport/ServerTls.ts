/**
 * What our servers accept of TLS (RFC 9325): with 1.2 the suites that have forward secrecy and authenticated encryption, no CBC
 * and no RSA key exchange, and no renegotiation, which a client could ask for again and again.
 */
import { constants } from "node:crypto"

const suites = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305"
]

/** Options of a context or of a server; another floor may be set beside them. */
export const serverTls = {
  minVersion: "TLSv1.2",
  ciphers: suites.join(":"),
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION
} as const
