import type { InboxApproval } from "@loopwright/core/protocol";
import { clientOf } from "../remote/remote-place.ts";
import type { ServerAddress } from "../remote/server-address.ts";
import type { ApprovalDesk, WholeApproval } from "./approval-desk.ts";

/** What waits on a running server. */
export function remoteDesk(server: ServerAddress): ApprovalDesk {
  const { approvals, sessions } = clientOf(server);
  const whole = async ({ args, ...approval }: InboxApproval): Promise<readonly WholeApproval[]> => {
    if (args) return [{ ...approval, args }];
    const { run } = await sessions.get(approval.sessionId);
    const found = run?.pendingApprovals?.find(({ callKey }) => callKey === approval.callKey);
    return found ? [{ ...approval, args: found.args }] : [];
  };
  return {
    async list(limit) {
      const found: InboxApproval[] = [];
      for (let before: string | undefined; found.length < limit; ) {
        const page = await approvals.list({ limit: Math.min(100, limit), ...(before === undefined ? {} : { before }) });
        found.push(...page.approvals);
        if (page.next === undefined) break;
        before = page.next;
      }
      return (await Promise.all(found.slice(0, limit).map(whole))).flat();
    },
    async decide({ sessionId, callKey, argsDigest }, decision) {
      await sessions.decide(sessionId, callKey, { ...decision, argsDigest });
    },
    rules: async () => (await approvals.rules()).rules,
    removeRule: (id) => approvals.removeRule(id),
    close: async () => {},
  };
}
