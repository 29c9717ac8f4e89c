/** The control plane knows no tunnel of this host name any more. */
import { Refused } from "../Failure.ts"

export class HostnameGone extends Refused {}
