import type { SessionView } from "@loopwright/client";
import type { AgentError, MessageId } from "@loopwright/core/protocol";
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { errorOf } from "../app/notices.ts";
import { ProblemNote } from "../app/problem-note.tsx";
import { useServices } from "../app/services.ts";
import { useWatched } from "../app/use-watched.ts";
import { newId } from "../composer/new-id.ts";
import "./forks.css";

export interface ForkFormProps {
  readonly sessionId: string;
  readonly view: SessionView;
  /** The last message that the fork has. */
  readonly message: MessageId;
  /** Called with the id of the fork. */
  readonly onFork: (sessionId: string) => void;
}

/** With which model and prompt the other conversation continues. A fork that failed is tried again under the same key, so that there is one. */
export function ForkForm({ sessionId, view, message, onFork }: ForkFormProps): ReactNode {
  const { client, agents, models } = useServices();
  const agent = useWatched(agents, (state) => state.agents.find(({ name }) => name === view.agent));
  const [error, setError] = useState<AgentError>();
  const [isBusy, setBusy] = useState(false);
  const [key, setKey] = useState(newId);
  const begin = useRef<HTMLButtonElement>(null);
  // The form is loaded after its dialog was opened.
  useEffect(() => begin.current?.focus(), []);
  const isQuestion = view.messages.get(message)?.message.role === "user";
  const fork = async (form: FormData): Promise<void> => {
    const prompt = String(form.get("prompt") ?? "").trim();
    const model = String(form.get("model") ?? "");
    const context = prompt === "" ? {} : { context: { systemPrompt: prompt } };
    const made = await client.sessions.fork(sessionId, { message, ...context }, { idempotencyKey: key });
    if (model !== "") models.set(made.sessionId, model);
    if (form.get("asks") !== null && made.head !== null)
      await client.sessions.submit(made.sessionId, { regenerate: made.head }, { idempotencyKey: key, ...(model === "" ? {} : { model }) });
    onFork(made.sessionId);
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError(undefined);
    fork(new FormData(event.currentTarget)).catch((caught: unknown) => {
      setError(errorOf(caught));
      setBusy(false);
    });
  };
  return (
    <form className="fork-form" aria-label="Fork" onSubmit={submit} onChange={() => setKey(newId())}>
      <p className="dialog-text">Another conversation begins with the messages up to this one. This one does not change.</p>
      {agent ? (
        <label>
          Model
          <select
            className="field"
            name="model"
            defaultValue={view.model !== undefined && agent.models.includes(view.model) ? view.model : agent.model}
          >
            {[...new Set([agent.model, ...agent.models])].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      ) : null}
      <label>
        Prompt in place of that of the agent
        <textarea className="field" name="prompt" rows={3} placeholder="Empty: as in this conversation" />
      </label>
      {isQuestion ? (
        <label className="fork-choice">
          <input type="checkbox" name="asks" /> Have it answered at once
        </label>
      ) : null}
      {error ? <ProblemNote error={error} /> : null}
      <div className="dialog-actions">
        <button type="submit" ref={begin} className="button primary" disabled={isBusy}>
          Fork
        </button>
      </div>
    </form>
  );
}
