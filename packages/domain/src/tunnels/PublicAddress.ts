/** Where visitors reach a tunnel. */

export const publicAddress = (hostname: string, port: number): string =>
  `https://${hostname}${port === 443 ? "" : `:${port}`}/`
