/** Variables of the legal pages: who operates this installation, and where weaknesses are reported. */
import * as NetworkParser from "@catenet/platform/NetworkParser"
import * as Parser from "@catenet/platform/Parser"
import { optional } from "@catenet/platform/Variable"

export const variables = {
  operatorName: optional(
    "CT_CP_OPERATOR_NAME",
    Parser.text,
    "Name of the operator of this installation, for the legal pages."
  ),
  operatorAddress: optional(
    "CT_CP_OPERATOR_ADDRESS",
    Parser.list,
    "Postal address of the operator; commas separate its lines."
  ),
  operatorEmail: optional("CT_CP_OPERATOR_EMAIL", Parser.text, "E-mail address of the operator."),
  operatorPhone: optional("CT_CP_OPERATOR_PHONE", Parser.text, "Telephone number of the operator."),
  operatorVatId: optional("CT_CP_OPERATOR_VAT_ID", Parser.text, "VAT id of the operator."),
  operatorResponsible: optional("CT_CP_OPERATOR_RESPONSIBLE", Parser.text, "Person responsible for the content."),
  legalFolder: optional(
    "CT_CP_LEGAL_DIR",
    Parser.text,
    "Folder with impressum.html, datenschutz.html, nutzungsbedingungen.html and llms.txt that replace the built-in ones."
  ),
  securityContact: optional(
    "CT_CP_SECURITY_CONTACT",
    NetworkParser.contact,
    "Contact for reporting vulnerabilities, published at /.well-known/security.txt."
  ),
  securityPolicy: optional("CT_CP_SECURITY_POLICY", NetworkParser.url, "Page that describes how reports are handled.")
} as const
