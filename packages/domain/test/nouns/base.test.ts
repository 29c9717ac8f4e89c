import { DeleteConfirmation } from "@catenet/domain/api/AccountsApi"
import * as Credits from "@catenet/domain/billing/Credits"
import * as AuditEntry from "@catenet/domain/identity/AuditEntry"
import * as ServiceAccount from "@catenet/domain/identity/ServiceAccount"
import * as Email from "@catenet/domain/values/Email"
import * as Hex from "@catenet/domain/values/Hex"
import * as Hostname from "@catenet/domain/values/Hostname"
import * as Ids from "@catenet/domain/values/Ids"
import * as Keys from "@catenet/domain/values/Keys"
import * as Numbers from "@catenet/domain/values/Numbers"
import * as Subject from "@catenet/domain/values/Subject"
import * as Tokens from "@catenet/domain/values/Tokens"
import { describeNouns } from "./nouns.ts"

describeNouns("Credits", Credits)
describeNouns("DeleteConfirmation", { DeleteConfirmation })
describeNouns("AuditEntry", AuditEntry)
describeNouns("Email", Email)
describeNouns("Hex", Hex)
describeNouns("Hostname", Hostname)
describeNouns("Ids", Ids)
describeNouns("Keys", Keys)
describeNouns("Numbers", Numbers)
describeNouns("ServiceAccount", ServiceAccount)
describeNouns("Subject", Subject)
describeNouns("Tokens", Tokens)
