import { isAgentError } from "@loopwright/core/protocol";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Sign } from "../app/icon.tsx";
import { useServices } from "../app/services.ts";
import { goTo } from "../app/use-route.ts";
import { useWatched } from "../app/use-watched.ts";
import { Composer } from "../composer/composer.tsx";
import { type ModelChoice, ModelPicker } from "../composer/model-picker.tsx";
import type { Outgoing } from "../composer/outgoing.ts";
import { pageTools } from "../tools/page-tools.ts";
import { Topbar } from "./topbar.tsx";

/** What the offline model can show. */
const demonstrations: readonly { readonly words: string; readonly shows: string }[] = [
  { words: "long answer", shows: "Headings, a table and code as they stream" },
  { words: "what time is it, then 6 * 7", shows: "Two tools, one after the other" },
  { words: "think about what a loop is", shows: "Thinking before the answer" },
  { words: "use pick_color", shows: "A tool that runs in this page" },
];

/** A conversation that does not exist yet: the first message makes it. */
export function StartScreen({ onSidebar }: { readonly onSidebar: (() => void) | undefined }): ReactNode {
  const { client, agents, list } = useServices();
  const known = useWatched(agents, (state) => state);
  const [chosen, setChosen] = useState<ModelChoice>();
  // A session that was made for a message which then could not be sent: the next try goes there.
  const made = useRef<string>(undefined);
  const agent = known.agents.find(({ name }) => name === (chosen?.agent ?? known.default)) ?? known.agents[0];
  const choice = agent ? (chosen ?? { agent: agent.name, model: agent.model }) : undefined;

  useEffect(() => {
    document.title = "Loopwright";
  }, []);

  const send = async ({ message, key, mode }: Outgoing): Promise<void> => {
    const tools = pageTools.map(({ declared }) => declared);
    const id = made.current ?? key;
    try {
      await client.sessions.create({ id, ...(choice ? { agent: choice.agent } : {}), context: { tools } });
    } catch (error) {
      // The answer to an earlier try was lost on the way: the session is there.
      if (!isAgentError(error, "SESSION_EXISTS")) throw error;
    }
    made.current = id;
    await client.sessions.submit(id, message, { mode, idempotencyKey: key, ...(chosen ? { model: chosen.model } : {}) });
    list.refresh();
    goTo({ name: "session", sessionId: id });
  };
  const choose = (next: ModelChoice): void => {
    if (next.agent !== choice?.agent) made.current = undefined;
    setChosen(next);
  };
  const start = (words: string): void => {
    const field = document.getElementById("message");
    if (!(field instanceof HTMLTextAreaElement)) return;
    field.focus();
    field.select();
    // The browser's own way of typing: it can be undone, and React gets the event.
    document.execCommand("insertText", false, words);
  };

  return (
    <div className="screen">
      <Topbar onSidebar={onSidebar} title={<h1 className="visually-hidden">New conversation</h1>} />
      <div className="start">
        <div className="start-body">
          <Sign />
          <h2 className="start-title">What shall we work on?</h2>
          {agent?.description ? <p className="start-text">{agent.description}</p> : null}
          {agent?.model.startsWith("offline") ? (
            <>
              <p className="start-text">This server runs the offline demonstration model: no key, no network. Try one of these.</p>
              <ul className="start-list">
                {demonstrations.map(({ words, shows }) => (
                  <li key={words}>
                    <button type="button" className="start-card" onClick={() => start(words)}>
                      <span className="start-words">{words}</span>
                      <span className="start-shows">{shows}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </>
          ) : null}
        </div>
      </div>
      <Composer
        key="new"
        draftOf=""
        isRunning={false}
        isStopping={false}
        waiting={[]}
        placeholder={agent ? `Write to ${agent.name}` : "Write a message"}
        send={send}
        stop={() => undefined}
      >
        <ModelPicker agents={known.agents} choice={choice} onChoose={choose} />
      </Composer>
    </div>
  );
}
