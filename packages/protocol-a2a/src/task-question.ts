import type { Json } from "@loopwright/core/protocol";
import type { Pending, TaskPart } from "./a2a-task.ts";

/** The question of a run that waits: a sentence for people, and the calls for programs. */
export function questionParts({ pendingApprovals = [], pendingToolCalls = [] }: Pending): readonly TaskPart[] {
  const approvals = pendingApprovals.map(({ callKey, toolName, args, argsDigest, reason, deadline, agent }) => ({
    ...{ callKey, toolName, args, argsDigest },
    ...(reason === undefined ? {} : { reason }),
    ...deadlineOf(deadline),
    ...(agent === undefined ? {} : { agent }),
  }));
  const calls = pendingToolCalls.map(({ callKey, toolName, args, deadline, agent }) => ({
    ...{ callKey, toolName, args },
    ...deadlineOf(deadline),
    ...(agent === undefined ? {} : { agent }),
  }));
  const sentences = [
    ...approvals.map(({ toolName, reason }) => `May \`${toolName}\` run?${reason === undefined ? "" : ` ${reason}`}`),
    ...calls.map(({ toolName, args }) => `What is the result of \`${toolName}\` with ${JSON.stringify(args)}?`),
  ];
  return [{ text: sentences.join("\n") }, { data: { approvals, calls } as unknown as Json }];
}

const deadlineOf = (deadline: number | undefined) => (deadline === undefined ? {} : { deadline: new Date(deadline).toISOString() });
