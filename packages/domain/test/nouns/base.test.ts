import * as Account from "@catenet/domain/Account"
import * as AuditEntry from "@catenet/domain/AuditEntry"
import * as Email from "@catenet/domain/Email"
import * as Hex from "@catenet/domain/Hex"
import * as Hostname from "@catenet/domain/Hostname"
import * as Ids from "@catenet/domain/Ids"
import * as Keys from "@catenet/domain/Keys"
import * as Numbers from "@catenet/domain/Numbers"
import * as ServiceAccount from "@catenet/domain/ServiceAccount"
import * as Subject from "@catenet/domain/Subject"
import * as Tokens from "@catenet/domain/Tokens"
import { describeNouns } from "./nouns.ts"

describeNouns("Account", Account)
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
