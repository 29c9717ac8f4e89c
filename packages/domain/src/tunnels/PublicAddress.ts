/**
 * Where visitors reach a tunnel.
 *
 * @example
 * ```ts
 * import { strictEqual } from "node:assert"
 * import { publicAddress } from "@catenet/domain/tunnels/PublicAddress"
 *
 * strictEqual(publicAddress("photos.example.net", 443), "https://photos.example.net/")
 * strictEqual(publicAddress("photos.localhost", 8443), "https://photos.localhost:8443/")
 * ```
 */
export const publicAddress = (hostname: string, port: number): string =>
  `https://${hostname}${port === 443 ? "" : `:${port}`}/`
