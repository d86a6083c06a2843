import type { ApprovalPage, ApprovalRule } from "@loopwright/core/protocol";
import type { ClientContext } from "./client-context.ts";
import { requestJson } from "./send-request.ts";
import { queryOf, type RequestOptions } from "./session-requests.ts";

/** What waits for decisions in all sessions, and decisions that hold for later calls. Every method @throws AgentError as the server refuses, SERVER_UNREACHABLE. */
export interface ApprovalRequests {
  /** A page of what the caller may decide, by session with the newest change first; `sessions.decide` decides. `before`: `next` of the page before. */
  list(options?: RequestOptions & { readonly limit?: number; readonly before?: string }): Promise<ApprovalPage>;
  /** The caller's rules that hold in all sessions, the newest first. `remembers`: false where the server remembers no decisions. */
  rules(options?: RequestOptions): Promise<{ readonly remembers: boolean; readonly rules: readonly ApprovalRule[] }>;
  /** False when the caller has no such rule. */
  removeRule(id: string, options?: RequestOptions): Promise<boolean>;
}

export function createApprovalRequests(client: ClientContext): ApprovalRequests {
  return {
    list: ({ signal, ...query } = {}) => requestJson(client, { path: `/api/approvals${queryOf(query)}`, signal }),
    rules: ({ signal } = {}) => requestJson(client, { path: "/api/approval-rules", signal }),
    async removeRule(id, { signal } = {}) {
      const path = `/api/approval-rules/${encodeURIComponent(id)}`;
      return (await requestJson<{ readonly removed: boolean }>(client, { method: "DELETE", path, signal })).removed;
    },
  };
}
