import { complaintOf } from "../complaint.ts";
import { openMcp } from "../compose/open-mcp.ts";
import type { Settings } from "../settings/settings.ts";
import { oneLine } from "../terminal/neutralise.ts";
import type { Finding } from "./finding.ts";

/** How long a server may take to list its tools. */
const listMs = 20_000;

/** What each MCP server of the settings offers now. */
export async function checkMcp(settings: Settings): Promise<readonly Finding[]> {
  try {
    const mcp = await openMcp(settings);
    if (!mcp) return [];
    try {
      return (await mcp.survey(AbortSignal.timeout(listMs))).map(({ server, tools, error }): Finding => {
        const what = `mcp ${server}`;
        if (error) return { what, state: "bad", text: complaintOf(error).join("\n") };
        const names = tools.map(({ original }) => original).join(", ");
        return { what, state: "ok", text: tools.length === 0 ? "no tools" : oneLine(names, 200) };
      });
    } finally {
      await mcp.close();
    }
  } catch (error) {
    return [{ what: "mcp", state: "bad", text: complaintOf(error).join("\n") }];
  }
}
