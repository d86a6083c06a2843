import type { ViewCall } from "@loopwright/client";
import { type ReactNode, use } from "react";
import { ActionsContext } from "../actions-context.ts";
import { ApprovalForm } from "./approval-form.tsx";

export interface CallApprovalProps {
  readonly call: ViewCall;
  /** Which of the calls of its message it is, in words; absent for the only one. */
  readonly order?: string;
}

/** Where a person decides whether a call of the conversation may run. */
export function CallApproval({ call, order }: CallApprovalProps): ReactNode {
  const { decideCall, toolLabel } = use(ActionsContext);
  return (
    <ApprovalForm
      name={call.label ?? toolLabel(call.toolName) ?? call.toolName}
      args={call.args}
      reason={call.approval?.reason}
      deadline={call.deadline}
      order={order}
      decide={async (decision, form) => {
        // The buttons disappear with the answer: the focus of the keyboard stays with the call.
        const head = form?.closest(".call")?.querySelector<HTMLElement>(".call-head");
        await decideCall(call, decision);
        head?.focus();
      }}
    />
  );
}
