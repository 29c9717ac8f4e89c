/**
 * The agent as a service of Windows, as the configuration of WinSW 2.12 (https://github.com/winsw/winsw): that program, renamed to
 * `ct-agent-service.exe`, lies beside this file and the agent's. The account has no rights but those of every local service.
 */

export const asset = "ct-agent-windows-x86_64.exe"

export const service = `<?xml version="1.0" encoding="UTF-8"?>
<service>
  <id>ct-agent</id>
  <name>Catenet agent</name>
  <description>Brings visitors of a public host name to a service of this machine.</description>
  <executable>%BASE%\\${asset}</executable>
  <arguments>--config "%ProgramData%\\ct-agent\\ct-agent.env"</arguments>
  <workingdirectory>%ProgramData%\\ct-agent</workingdirectory>
  <env name="CT_AGENT_STATE_DIR" value="%ProgramData%\\ct-agent\\state"/>
  <serviceaccount>
    <domain>NT AUTHORITY</domain>
    <user>LocalService</user>
  </serviceaccount>
  <startmode>Automatic</startmode>
  <delayedAutoStart>true</delayedAutoStart>
  <onfailure action="restart" delay="10 sec"/>
  <stoptimeout>20 sec</stoptimeout>
  <logpath>%ProgramData%\\ct-agent</logpath>
  <log mode="roll-by-size">
    <sizeThreshold>10240</sizeThreshold>
    <keepFiles>4</keepFiles>
  </log>
</service>
`
