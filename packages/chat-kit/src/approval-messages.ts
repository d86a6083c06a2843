/*
 * Owns: the messages with buttons about calls that wait, and what pressing one does.
 * Invariants
 *  A1 a decision is bound to the arguments that the message shows, and counts only from the chat that shows it;
 *  A2 the server judges whether the person may decide: the request is that of the linked user;
 *  A3 a call is asked about once in a chat, also over restarts.
 */
import type { LoopwrightClient } from "@loopwright/client";
import { isAgentError, type PendingApproval } from "@loopwright/core/protocol";
import type { ChatMemory } from "./chat-memory.ts";
import type { ChatPress, ChatSurface } from "./chat-surface.ts";
import { approvalQuestion, words } from "./chat-words.ts";
import { isTransient } from "./is-transient.ts";

interface AskedApproval {
  readonly place: string;
  readonly session: string;
  readonly callKey: string;
  readonly argsDigest: string;
  readonly toolName: string;
  /** Absent while it is being sent. */
  readonly message?: string;
}

/** Delivers something; `undefined` where the vendor will never take it. */
export type Deliver = <T>(send: () => Promise<T>) => Promise<T | undefined>;

/** Where a message with buttons goes. */
export interface AskingChat {
  readonly place: string;
  readonly session: string;
  readonly deliver: Deliver;
}

/** The messages about calls that wait. */
export interface ApprovalMessages {
  ask(chat: AskingChat, call: PendingApproval): Promise<void>;
  /** Shows the decision in place of the buttons. */
  close(chat: AskingChat, decided: { readonly callKey: string; readonly decision: "allow" | "deny"; readonly by?: string }): Promise<void>;
  /** Decides as the person asks; resolves with words for it. */
  press(press: ChatPress, client: LoopwrightClient): Promise<string>;
}

interface ApprovalParts {
  readonly surface: ChatSurface;
  readonly memory: ChatMemory;
  readonly newId: () => string;
}

/** The messages about calls that wait, for one vendor. */
export function approvalMessages({ surface, memory, newId }: ApprovalParts): ApprovalMessages {
  const approvalKey = (ref: string): string => `approval:${surface.name}:${ref}`;
  const askedKey = ({ place, session }: AskingChat, callKey: string): string => `asked:${surface.name}:${place}:${session}:${callKey}`;
  // The memory is this package's own: what it returns was written below.
  const approvalOf = (ref: string): AskedApproval | undefined => memory.read(approvalKey(ref)) as AskedApproval | undefined;
  return {
    async ask(chat, call) {
      const ref = String(memory.writeOnce(askedKey(chat, call.callKey), newId()));
      if (approvalOf(ref)?.message !== undefined) return;
      const { place, session, deliver } = chat;
      const { callKey, argsDigest, toolName } = call;
      const asked: AskedApproval = { place, session, callKey, argsDigest, toolName };
      memory.write(approvalKey(ref), asked);
      const { markdown, file } = approvalQuestion(call);
      if (file !== undefined)
        await deliver(() => surface.sendFile(place, { name: "arguments.json", mediaType: "application/json", text: file }));
      const buttons = [
        { id: `${ref}-y`, label: "Allow" },
        { id: `${ref}-n`, label: "Deny", isDangerous: true },
      ];
      const message = await deliver(() => surface.send(place, markdown, buttons));
      if (message !== undefined && approvalOf(ref)) memory.write(approvalKey(ref), { ...asked, message });
    },
    async close(chat, { callKey, decision, by }) {
      const ref = memory.take(askedKey(chat, callKey));
      const asked = ref === undefined ? undefined : approvalOf(String(ref));
      if (ref === undefined || !asked) return;
      memory.take(approvalKey(String(ref)));
      const { message, toolName } = asked;
      if (message !== undefined) await chat.deliver(() => surface.edit(chat.place, message, words.decided(toolName, decision, by)));
    },
    async press({ place, button }, client) {
      const [, ref = "", choice] = /^(.+)-([yn])$/.exec(button) ?? [];
      const asked = approvalOf(ref);
      if (!asked || asked.place !== place) return words.decidedBefore;
      const { session, callKey, argsDigest } = asked;
      const decision = choice === "y" ? "allow" : "deny";
      try {
        await client.sessions.decide(session, callKey, { decision, argsDigest, idempotencyKey: `${surface.name}-${ref}-${choice}` });
        return decision === "allow" ? words.allowed : words.denied;
      } catch (error) {
        if (isTransient(error)) return words.again;
        if (isAgentError(error, "APPROVAL_DECIDED") || isAgentError(error, "CALL_UNKNOWN")) return words.decidedBefore;
        if (isAgentError(error)) return words.refused(error.message);
        throw error;
      }
    },
  };
}
