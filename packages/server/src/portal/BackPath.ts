/** Where a switch of the language leads back to: the page on which it stands, and nowhere else. */
import { nextPath } from "./NextPath.ts"

/** Pages that need no session, and those outside `/portal`, on which a switch stands. Each of them says itself what its reader may see. */
const outside = [
  /^\/$/u,
  /^\/(?:docs|operators|impressum|datenschutz|nutzungsbedingungen|portal|portal\/receipts)$/u,
  /^\/net\/[0-9a-f-]{1,64}$/u,
  /^\/me\/topologies\/[0-9a-f]{32}\/editor$/u,
  /^\/gate\/request-access\?host=[a-z0-9.-]{1,253}$/u
]

export const backPath = (text: string | undefined, isSignedIn: boolean): string => {
  if (text !== undefined && outside.some((pattern) => pattern.test(text))) return text
  return isSignedIn ? nextPath(text) : "/"
}
