// A page of assistant-ui over the routes of the AI SDK. The chat is named by the address (`/#my-chat`), and continues after a reload; `/?new` is one of `useChatRuntime`.
import { useChat } from "@ai-sdk/react";
import {
  type AssistantRuntime,
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  type ReasoningMessagePartComponent,
  type TextMessagePartComponent,
  ThreadPrimitive,
  type ToolCallMessagePartComponent,
} from "@assistant-ui/react";
import { AssistantChatTransport, useAISDKError, useAISDKRuntime, useChatRuntime } from "@assistant-ui/react-ai-sdk";
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from "ai";
import type { ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Approval, BedChoice, Bubble, Call, Reasoning as ReasoningText } from "../shell.tsx";

const chatId = location.hash.slice(1) || "garden";
const address = `api/chat/${encodeURIComponent(chatId)}`;
const transport = new AssistantChatTransport({ api: "api/chat" });
const sendAutomaticallyWhen = (chat: { messages: UIMessage[] }): boolean =>
  lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat);

function NewChat(): ReactNode {
  return <Thread runtime={useChatRuntime({ transport, sendAutomaticallyWhen })} />;
}

function KeptChat({ known }: { readonly known: UIMessage[] }): ReactNode {
  const chat = useChat({ id: chatId, messages: known, resume: true, transport, sendAutomaticallyWhen });
  // `stop` of the SDK only closes the connection: the run is stopped by its route.
  const stop = async (): Promise<void> => void (await fetch(`${address}/stop`, { method: "POST" }));
  return <Thread runtime={useAISDKRuntime({ ...chat, stop })} />;
}

const Text: TextMessagePartComponent = ({ text }) => <p>{text}</p>;
const Reasoning: ReasoningMessagePartComponent = ({ text }) => <ReasoningText text={text} />;

const Tool: ToolCallMessagePartComponent = ({ toolName, args, result, isError, approval, addResult, respondToApproval }) => {
  const outcome = result === undefined ? undefined : { text: typeof result === "string" ? result : JSON.stringify(result) };
  const denied = approval?.approved === false ? { text: "It was denied.", isFailed: true } : undefined;
  return (
    <Call name={toolName} input={args} outcome={denied ?? (outcome && { ...outcome, isFailed: isError === true })}>
      {approval && approval.approved === undefined && (
        <Approval reason={approval.prompt ?? approval.reason} onAnswer={(approved) => void respondToApproval({ approved })} />
      )}
      {toolName === "choose_bed" && result === undefined && <BedChoice onChoose={addResult} />}
    </Call>
  );
};

const UserMessage = (): ReactNode => (
  <Bubble from="You">
    <MessagePrimitive.Parts components={{ Text }} />
  </Bubble>
);

const AssistantMessage = (): ReactNode => (
  <Bubble from="Answer">
    <MessagePrimitive.Parts components={{ Text, Reasoning, tools: { Fallback: Tool } }} />
  </Bubble>
);

function ErrorText(): ReactNode {
  const error = useAISDKError();
  return (
    error && (
      <p className="error" role="alert">
        {error.message}
      </p>
    )
  );
}

function Thread({ runtime }: { readonly runtime: AssistantRuntime }): ReactNode {
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <main>
        <header>
          <h1>A garden, by assistant-ui</h1>
        </header>
        <ThreadPrimitive.Viewport className="log" role="log" aria-label="Messages" tabIndex={0}>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
          <ErrorText />
        </ThreadPrimitive.Viewport>
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input aria-label="Message" placeholder="Write to the gardener" />
          <ThreadPrimitive.If running={false}>
            <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
          </ThreadPrimitive.If>
          <ThreadPrimitive.If running>
            <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          </ThreadPrimitive.If>
        </ComposerPrimitive.Root>
      </main>
    </AssistantRuntimeProvider>
  );
}

const root = createRoot(document.getElementById("root") as HTMLElement);
if (location.search === "?new") root.render(<NewChat />);
else {
  const { messages } = (await (await fetch(address)).json()) as { messages: UIMessage[] };
  root.render(<KeptChat known={messages} />);
}
