import type { SessionStore, SessionSummary } from "@loopwright/core/ports";
import { localScope, openExistingStore } from "../compose/kept-sessions.ts";
import { openApprovals } from "../compose/open-approvals.ts";
import type { Settings } from "../settings/settings.ts";
import { withRecorder } from "../shelf/local-shelf.ts";
import type { ApprovalDesk, WholeApproval } from "./approval-desk.ts";

/** The user of everything that the command line keeps. */
const owner = { user: "local", scope: localScope };
/** Sessions of one page. */
const pageSize = 100;

/** What waits in a store. A decision is recorded there; a process with `loopwright run` on the store, or `chat --resume`, continues the run. */
export async function localDesk(settings: Pick<Settings, "store" | "environment">): Promise<ApprovalDesk> {
  const store = await openExistingStore(settings);
  const { memory } = openApprovals(settings);
  return {
    async list(limit) {
      const found: WholeApproval[] = [];
      for await (const summary of store ? waitingIn(store) : []) {
        if (found.length >= limit) break;
        if (store) found.push(...(await approvalsOf(store, summary)));
      }
      return found.slice(0, limit);
    },
    async decide({ sessionId, callKey, argsDigest, toolName, args }, { remember, ...decision }) {
      if (!store) return;
      const pattern = remember && memory.patternFor({ toolName, args: decision.args ?? args }, remember.pattern);
      const kept = pattern && remember?.for === "session" ? { remember: pattern } : {};
      await withRecorder(store, sessionId, (session) => session.decide(callKey, { ...decision, argsDigest, ...kept }));
      if (pattern && remember?.for === "always")
        await memory.remember(owner, { toolName, decision: decision.decision, pattern, sessionId });
    },
    rules: () => memory.list(owner),
    removeRule: (id) => memory.forget(owner, id),
    close: async () => store?.close(),
  };
}

async function* waitingIn({ index }: SessionStore): AsyncGenerator<SessionSummary> {
  for (let before: SessionSummary | undefined; ; ) {
    const page = await index.list(localScope, { limit: pageSize, ...(before ? { before } : {}) });
    for (const summary of page) if ((summary.pendingApprovals ?? 0) > 0 || summary.status === "waiting") yield summary;
    before = page.at(-1);
    if (page.length < pageSize) return;
  }
}

function approvalsOf(store: SessionStore, { id, title }: SessionSummary): Promise<readonly WholeApproval[]> {
  return withRecorder(store, id, async ({ pendingApprovals }) =>
    pendingApprovals.map((approval) => ({
      ...{ sessionId: id, ...(title === undefined ? {} : { title }) },
      ...approval,
      argsBytes: new TextEncoder().encode(JSON.stringify(approval.args)).length,
    })),
  );
}
