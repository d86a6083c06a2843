// A page that speaks AG-UI: the `HttpAgent` of its SDK, pointed at Loopwright. The thread is named by the address: `/#my-thread`.
import { HttpAgent, type Interrupt, type Message, type ResumeEntry, type State } from "@ag-ui/client";
import { type ReactNode, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { Approval, BedChoice, Bubble, Call, Reasoning, Shell, suggestions } from "../shell.tsx";

const threadId = location.hash.slice(1) || "garden";
const address = `ag-ui/gardener/${encodeURIComponent(threadId)}`;
const agent = new HttpAgent({ url: "ag-ui/gardener", threadId });

/** What a run was started with, kept until it has ended: after a reload the same request gives the same run. */
interface Started {
  readonly runId: string;
  readonly resume?: ResumeEntry[];
}

const kept = `run of ${threadId}`;

/** What the page shows beside the messages of the agent. */
interface Shown {
  readonly isBusy: boolean;
  readonly error: string | undefined;
}

let shown: Shown = { isBusy: false, error: undefined };
const watchers = new Set<() => void>();

function show(change: Partial<Shown>): void {
  shown = { ...shown, ...change };
  for (const watcher of watchers) watcher();
}

agent.subscribe({
  onMessagesChanged: () => show({}),
  onStateChanged: () => show({}),
  onRunErrorEvent: ({ event }) => show({ error: event.message }),
});

async function run(more: Omit<Started, "runId"> = {}, runId: string = crypto.randomUUID()): Promise<void> {
  show({ isBusy: true, error: undefined });
  sessionStorage.setItem(kept, JSON.stringify({ runId, ...more }));
  try {
    await agent.runAgent({ runId, ...more });
    if (agent.pendingInterrupts.length === 0) sessionStorage.removeItem(kept);
  } catch (error) {
    // The server has refused the request, or cannot be reached.
    show({ error: error instanceof Error ? error.message : String(error) });
  }
  show({ isBusy: false });
}

function say(content: string): void {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
  void run();
}

function answer(toolCallId: string, content: string): void {
  agent.addMessage({ id: crypto.randomUUID(), role: "tool", toolCallId, content });
  void run();
}

function decide({ id }: Interrupt, approved: boolean): void {
  void run({ resume: [{ interruptId: id, status: "resolved", payload: { approved } }] });
}

/** The plan: the state that the page shares with the agent, which changes it by a tool. */
const planOf = (): readonly string[] => (agent.state as { readonly plan?: readonly string[] }).plan ?? [];

/** The agent reads the change with the next message. */
function unplan(bed: string): void {
  agent.setState({ plan: planOf().filter((one) => one !== bed) });
  show({});
}

/** After a reload: the messages that the server has, and the run that was under way or waits for the page. */
async function reload(): Promise<void> {
  const { messages, state = {} } = (await (await fetch(address)).json()) as { readonly messages: Message[]; readonly state?: State };
  agent.setMessages(messages);
  agent.setState(state);
  const started = sessionStorage.getItem(kept);
  if (started === null) return;
  const { runId, ...more } = JSON.parse(started) as Started;
  await run(more, runId);
}

type ToolCall = NonNullable<Extract<Message, { readonly role: "assistant" }>["toolCalls"]>[number];

function ToolCallOf({ call: { id, function: called } }: { readonly call: ToolCall }): ReactNode {
  const result = agent.messages.find((message) => message.role === "tool" && message.toolCallId === id);
  const interrupt = agent.pendingInterrupts.find(({ toolCallId }) => toolCallId === id);
  const outcome = result?.role === "tool" ? { text: String(result.content), isFailed: result.error !== undefined } : undefined;
  const input = parsed(called.arguments);
  const isAsked = called.name === "choose_bed" && !outcome && !shown.isBusy;
  return (
    <Call name={called.name} input={input} outcome={outcome}>
      {interrupt && !shown.isBusy && <Approval reason={interrupt.message} onAnswer={(approved) => decide(interrupt, approved)} />}
      {isAsked && <BedChoice onChoose={(bed) => answer(id, bed)} />}
    </Call>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The arguments are still being written.
    return undefined;
  }
}

function Row({ message }: { readonly message: Message }): ReactNode {
  if (message.role === "user") return <Bubble from="You">{<p>{String(message.content)}</p>}</Bubble>;
  if (message.role === "reasoning") return message.content === "" ? undefined : <Reasoning text={message.content} />;
  if (message.role !== "assistant") return undefined;
  return (
    <Bubble from="Answer" by={message.subagentRunId === undefined ? undefined : "Botanist"}>
      {message.content && <p>{String(message.content)}</p>}
      {message.toolCalls?.map((call) => (
        <ToolCallOf key={call.id} call={call} />
      ))}
    </Bubble>
  );
}

function Plan(): ReactNode {
  return (
    <aside aria-label="Plan">
      <h2>Water today</h2>
      {planOf().length === 0 && <span>No beds.</span>}
      <ul>
        {planOf().map((bed) => (
          <li key={bed}>
            <button type="button" aria-label={`Leave out ${bed}`} onClick={() => unplan(bed)}>
              {bed} ✕
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}

function Garden(): ReactNode {
  const { isBusy, error } = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => shown,
  );
  return (
    <Shell
      title="A garden, by AG-UI"
      suggestions={suggestions}
      isBusy={isBusy}
      error={error}
      aside={<Plan />}
      onSend={say}
      // `abortRun` only closes the connection: the run is stopped by its route.
      onStop={() => void fetch(`${address}/stop`, { method: "POST" })}
    >
      {agent.messages.map((message) => (
        <Row key={message.id} message={message} />
      ))}
    </Shell>
  );
}

createRoot(document.getElementById("root") as HTMLElement).render(<Garden />);
await reload();
