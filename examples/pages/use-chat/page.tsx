// A page of the AI SDK: `useChat` with its own transport, pointed at Loopwright. The chat is named by the address: `/#my-chat`.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  type DynamicToolUIPart,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type ToolUIPart,
  type UIMessage,
} from "ai";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Approval, BedChoice, Bubble, Call, Reasoning, Shell, suggestions } from "../shell.tsx";

const chatId = location.hash.slice(1) || "garden";
const address = `api/chat/${encodeURIComponent(chatId)}`;

function Chat({ known }: { readonly known: UIMessage[] }): ReactNode {
  const { messages, status, error, sendMessage, addToolOutput, addToolApprovalResponse } = useChat({
    id: chatId,
    messages: known,
    transport: new DefaultChatTransport({ api: "api/chat" }),
    // An answer that is under way continues after a reload.
    resume: true,
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  });
  return (
    <Shell
      title="A garden, by useChat"
      suggestions={suggestions}
      isBusy={status === "submitted" || status === "streaming"}
      error={error?.message}
      onSend={(text) => void sendMessage({ text })}
      // `stop` of the SDK only closes the connection, and a closed connection may come back: the run is stopped by its route.
      onStop={() => void fetch(`${address}/stop`, { method: "POST" })}
    >
      {messages.map(({ id, role, parts }) => (
        <Bubble key={id} from={role === "user" ? "You" : "Answer"}>
          {parts.map((part, at) => {
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are added at the end, and never move.
            if (part.type === "reasoning") return <Reasoning key={at} text={part.text} />;
            // biome-ignore lint/suspicious/noArrayIndexKey: parts are added at the end, and never move.
            if (part.type === "text") return <p key={at}>{part.text}</p>;
            if (!isToolUIPart(part)) return undefined;
            const name = getToolName(part);
            return (
              <Call key={part.toolCallId} name={name} input={part.input} outcome={outcomeOf(part)}>
                {part.state === "approval-requested" && (
                  <Approval
                    reason={part.approval.requestReason}
                    onAnswer={(approved) => void addToolApprovalResponse({ id: part.approval.id, approved })}
                  />
                )}
                {part.state === "input-available" && name === "choose_bed" && (
                  <BedChoice onChoose={(output) => void addToolOutput({ tool: name, toolCallId: part.toolCallId, output })} />
                )}
              </Call>
            );
          })}
        </Bubble>
      ))}
    </Shell>
  );
}

function outcomeOf(part: ToolUIPart | DynamicToolUIPart): { readonly text: string; readonly isFailed?: boolean } | undefined {
  if (part.state === "output-available") return { text: String(part.output) };
  if (part.state === "output-error") return { text: part.errorText, isFailed: true };
  return part.state === "output-denied" ? { text: "It was denied.", isFailed: true } : undefined;
}

const { messages } = (await (await fetch(address)).json()) as { messages: UIMessage[] };
createRoot(document.getElementById("root") as HTMLElement).render(<Chat known={messages} />);
