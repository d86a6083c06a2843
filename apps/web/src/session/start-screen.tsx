import { isAgentError } from "@loopwright/core/protocol";
import { type ReactNode, useEffect, useState } from "react";
import { Sign } from "../app/icon.tsx";
import { useServices } from "../app/services.ts";
import { goTo } from "../app/use-route.ts";
import { Composer } from "../composer/composer.tsx";
import { type ModelChoice, ModelPicker } from "../composer/model-picker.tsx";
import type { Outgoing } from "../composer/outgoing.ts";
import { pageTools } from "../tools/page-tools.ts";
import { Topbar } from "./topbar.tsx";
import { useWatched } from "./use-watched.ts";

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
  const agent = known.agents.find(({ name }) => name === (chosen?.agent ?? known.default)) ?? known.agents[0];
  const choice = agent ? (chosen ?? { agent: agent.name, model: agent.model }) : undefined;

  useEffect(() => {
    document.title = "Loopwright";
  }, []);

  const send = async ({ message, key, mode }: Outgoing): Promise<void> => {
    const tools = pageTools.map(({ declared }) => declared);
    try {
      await client.sessions.create({ id: key, ...(choice ? { agent: choice.agent } : {}), context: { tools } });
    } catch (error) {
      // The answer to an earlier try was lost on the way: the session is there.
      if (!isAgentError(error, "SESSION_EXISTS")) throw error;
    }
    await client.sessions.submit(key, message, { mode, idempotencyKey: key, ...(chosen ? { model: chosen.model } : {}) });
    list.refresh();
    goTo({ name: "session", sessionId: key });
  };
  const start = (words: string): void => {
    const field = document.getElementById("message");
    if (!(field instanceof HTMLTextAreaElement)) return;
    field.focus();
    field.select();
    // The browser's own way of typing: it can be undone, and React hears of it.
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
        <ModelPicker agents={known.agents} choice={choice} onChoose={setChosen} />
      </Composer>
    </div>
  );
}
