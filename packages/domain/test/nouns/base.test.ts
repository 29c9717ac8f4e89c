import { DeleteConfirmation } from "@catenet/domain/api/AccountsApi"
import * as Credits from "@catenet/domain/billing/Credits"
import * as AccountLimits from "@catenet/domain/identity/AccountLimits"
import * as ServiceAccount from "@catenet/domain/identity/ServiceAccount"
import * as AuditEffect from "@catenet/domain/values/AuditEffect"
import * as Email from "@catenet/domain/values/Email"
import * as Hex from "@catenet/domain/values/Hex"
import * as Hostname from "@catenet/domain/values/Hostname"
import * as Ids from "@catenet/domain/values/Ids"
import * as Keys from "@catenet/domain/values/Keys"
import * as Numbers from "@catenet/domain/values/Numbers"
import * as Tokens from "@catenet/domain/values/Tokens"
import { describeNouns } from "./nouns.ts"

describeNouns("Credits", Credits)
describeNouns("DeleteConfirmation", { DeleteConfirmation })
describeNouns("AuditEffect", AuditEffect)
describeNouns("Email", Email)
describeNouns("Hex", Hex)
describeNouns("Hostname", Hostname)
describeNouns("Ids", Ids)
describeNouns("Keys", Keys)
describeNouns("Numbers", Numbers)
describeNouns("AccountLimits", AccountLimits)
describeNouns("ServiceAccount", ServiceAccount)
describeNouns("Tokens", Tokens)
