import type { AgentError, InboxApproval } from "@loopwright/core/protocol";
import { useCallback, useEffect, useState } from "react";
import { errorOf } from "../../app/notices.ts";
import { useServices } from "../../app/services.ts";
import { useWatched } from "../../app/use-watched.ts";

export interface ApprovalInbox {
  readonly approvals: readonly InboxApproval[];
  /** Where the next page begins; absent: there is none. */
  readonly next: string | undefined;
  readonly error: AgentError | undefined;
  /** The server has answered. */
  readonly isKnown: boolean;
  refresh(): Promise<void>;
  showMore(): Promise<void>;
}

type Shown = Pick<ApprovalInbox, "approvals" | "next" | "error" | "isKnown">;

/** What waits for this person, read again whenever a conversation has changed. */
export function useApprovalInbox(): ApprovalInbox {
  const { client, list } = useServices();
  const [shown, setShown] = useState<Shown>({ approvals: [], next: undefined, error: undefined, isKnown: false });
  // The list of conversations follows the hints of the server; many in a short time are one change.
  const changed = useWatched(list, ({ sessions }) => sessions);

  const refresh = useCallback(async (): Promise<void> => {
    try {
      const { approvals, next } = await client.approvals.list();
      setShown({ approvals, next, error: undefined, isKnown: true });
    } catch (caught) {
      setShown((before) => ({ ...before, error: errorOf(caught) }));
    }
  }, [client]);

  const showMore = async (): Promise<void> => {
    if (shown.next === undefined) return;
    try {
      const page = await client.approvals.list({ before: shown.next });
      setShown((before) => ({ ...before, approvals: [...before.approvals, ...page.approvals], next: page.next, error: undefined }));
    } catch (caught) {
      setShown((before) => ({ ...before, error: errorOf(caught) }));
    }
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of `changed` asks the server again
  useEffect(() => {
    void refresh();
  }, [refresh, changed]);
  return { ...shown, refresh, showMore };
}
