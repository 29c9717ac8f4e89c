/** Variables of the legal pages: who operates this installation, and where weaknesses are reported. */
import * as Forms from "./Forms.ts"
import { optional } from "./Variable.ts"

export const variables = {
  operatorName: optional("CT_CP_OPERATOR_NAME", Forms.text, "Who operates this installation, for the legal pages."),
  operatorAddress: optional("CT_CP_OPERATOR_ADDRESS", Forms.list, "Postal address, its lines between commas."),
  operatorEmail: optional("CT_CP_OPERATOR_EMAIL", Forms.text, "Where people reach the operator."),
  operatorPhone: optional("CT_CP_OPERATOR_PHONE", Forms.text, "Telephone number of the operator."),
  operatorVatId: optional("CT_CP_OPERATOR_VAT_ID", Forms.text, "VAT id of the operator."),
  operatorResponsible: optional("CT_CP_OPERATOR_RESPONSIBLE", Forms.text, "Who answers for the contents."),
  legalFolder: optional(
    "CT_CP_LEGAL_DIR",
    Forms.text,
    "Folder whose impressum.html, datenschutz.html, nutzungsbedingungen.html and llms.txt replace ours."
  ),
  securityContact: optional(
    "CT_CP_SECURITY_CONTACT",
    Forms.contact,
    "Where weaknesses are reported; published at /.well-known/security.txt."
  ),
  securityPolicy: optional("CT_CP_SECURITY_POLICY", Forms.url, "Page that says how reports are treated.")
} as const

export const reads = {
  operatorName: variables.operatorName.read,
  operatorAddress: variables.operatorAddress.read,
  operatorEmail: variables.operatorEmail.read,
  operatorPhone: variables.operatorPhone.read,
  operatorVatId: variables.operatorVatId.read,
  operatorResponsible: variables.operatorResponsible.read,
  legalFolder: variables.legalFolder.read,
  securityContact: variables.securityContact.read,
  securityPolicy: variables.securityPolicy.read
}
