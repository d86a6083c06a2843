import type { ModelRequest } from "@loopwright/core/ports";
import type { Exchange } from "../exchange.ts";
import type { OfflineReply } from "../offline-answer.ts";
import { leadReply, leadTools } from "./lead-research.ts";
import { researcherReply, webTools } from "./research-work.ts";

/** The reply of a supervisor or a researcher, known by their tools; `undefined` for any other agent. */
export function researchReply(request: ModelRequest, exchange: Exchange): OfflineReply | undefined {
  const names = new Set([...(request.tools ?? []).map(({ name }) => name), ...exchange.done]);
  if (names.has(leadTools.report)) return leadReply(request, exchange);
  return names.has(webTools.history) ? researcherReply(request, exchange) : undefined;
}
